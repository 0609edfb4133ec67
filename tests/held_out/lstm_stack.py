import torch
from torch import nn


class PeepholeLSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.ih = nn.Linear(input_size, 4 * hidden_size)
        self.hh = nn.Linear(hidden_size, 4 * hidden_size, bias=False)
        self.peep = nn.Parameter(torch.full((3, hidden_size), 0.1))

    def forward(self, x, state):
        h, c = state
        gates = self.ih(x) + self.hh(h)
        i, f, g, o = gates.chunk(4, dim=1)
        i = torch.sigmoid(i + self.peep[0] * c)
        f = torch.sigmoid(f + self.peep[1] * c + 1.0)
        c_next = f * c + i * torch.tanh(g)
        o = torch.sigmoid(o + self.peep[2] * c_next)
        return o * torch.tanh(c_next), c_next


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([PeepholeLSTMCell(6, 10), PeepholeLSTMCell(10, 10)])
        self.attend = nn.Linear(10, 1)
        self.out = nn.Linear(20, 3)

    def forward(self, seq, lengths):
        seq_len, batch, _ = seq.size()
        states = [(seq.new_zeros(batch, cell.hidden_size), seq.new_zeros(batch, cell.hidden_size))
                  for cell in self.layers]
        outputs = []
        for t in range(seq_len):
            inp = seq[t]
            alive = (t < lengths).unsqueeze(1)
            for n, cell in enumerate(self.layers):
                h, c = cell(inp, states[n])
                h = torch.where(alive, h, states[n][0])
                c = torch.where(alive, c, states[n][1])
                states[n] = (h, c)
                inp = h if n == 0 else h + inp
            outputs.append(inp)
        stacked = torch.stack(outputs, dim=0)
        score = self.attend(torch.tanh(stacked)).squeeze(-1)
        pad = torch.arange(seq_len).unsqueeze(1) >= lengths.unsqueeze(0)
        alpha = torch.softmax(score.masked_fill(pad, -1e4), dim=0)
        context = (alpha.unsqueeze(-1) * stacked).sum(0)
        last = states[-1][0]
        return self.out(torch.cat([context, last], dim=1)), alpha.t()


# Initializing the model
m = Model()

# Inputs to the model
seq = torch.randn(5, 3, 6)
lengths = torch.tensor([5, 2, 4])
output, alpha = m(seq, lengths)
print(output)
