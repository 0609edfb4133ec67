import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    A bidirectional GRU written with explicit weights, followed by max pooling over time.
    """
    def __init__(self, vocab_size, embed_dim, hidden_size, layer_norm=True):
        super(Model, self).__init__()
        self.hidden_size = hidden_size
        self.layer_norm = layer_norm
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        for direction in ("forward", "backward"):
            w_ih = nn.Parameter(torch.randn(3 * hidden_size, embed_dim) * 0.1)
            w_hh = nn.Parameter(torch.randn(3 * hidden_size, hidden_size) * 0.1)
            self.register_parameter(f"w_ih_{direction}", w_ih)
            self.register_parameter(f"w_hh_{direction}", w_hh)
            self.register_parameter(f"b_ih_{direction}", nn.Parameter(torch.zeros(3 * hidden_size)))
            self.register_parameter(f"b_hh_{direction}", nn.Parameter(torch.zeros(3 * hidden_size)))
        if layer_norm:
            self.ln = nn.LayerNorm(2 * hidden_size, elementwise_affine=False)

    def _cell(self, gi, h, w_hh, b_hh):
        gh = F.linear(h, w_hh, b_hh)
        i_r, i_z, i_n = gi.split(self.hidden_size, dim=-1)
        h_r, h_z, h_n = gh.split(self.hidden_size, dim=-1)
        reset = torch.sigmoid(i_r + h_r)
        update = torch.sigmoid(i_z + h_z)
        new = torch.tanh(i_n + reset * h_n)
        return (1 - update) * new + update * h

    def _run(self, embedded, direction: str):
        w_ih = getattr(self, f"w_ih_{direction}")
        b_ih = getattr(self, f"b_ih_{direction}")
        w_hh = getattr(self, f"w_hh_{direction}")
        b_hh = getattr(self, f"b_hh_{direction}")
        batch, steps, _ = embedded.shape
        gi_all = torch.matmul(embedded, w_ih.t()) + b_ih
        h = torch.zeros(batch, self.hidden_size, device=embedded.device, dtype=embedded.dtype)
        order = range(steps) if direction == "forward" else reversed(range(steps))
        collected = [None] * steps
        for t in order:
            h = self._cell(gi_all[:, t], h, w_hh, b_hh)
            collected[t] = h
        return torch.stack(collected, dim=1)

    def forward(self, tokens):
        """
        :param tokens: LongTensor, shape (batch, steps)
        :return: tensor, shape (batch, 2 * hidden_size)
        """
        embedded = self.embedding(tokens)
        both = torch.cat([self._run(embedded, d) for d in ("forward", "backward")], dim=-1)
        if self.layer_norm:
            both = self.ln(both)
        mask = tokens.ne(0).unsqueeze(-1)
        both = both.masked_fill(~mask, float("-inf"))
        pooled, _ = both.max(dim=1)
        return F.normalize(pooled, p=2, dim=1)

batch_size = 3
steps = 6
vocab_size = 20

def get_inputs():
    tokens = torch.randint(1, vocab_size, (batch_size, steps))
    tokens[0, 4:] = 0
    tokens[2, 2:] = 0
    return [tokens]

def get_init_inputs():
    return [vocab_size, 8, 7]
