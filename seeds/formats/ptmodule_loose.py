import torch
import torch.nn as nn


class PtModule(nn.Module):
    def __init__(self):
        super(PtModule, self).__init__()
        self.weight = nn.Parameter(torch.full((3, 2), 0.5))

    def forward(self, x):
        y = torch.matmul(x, self.weight)
        y = y + 1.0
        y = y * y - y / 2.0
        mask = ~(y > 3.0)
        y = torch.where(mask, y, -y)
        return torch.sqrt(torch.abs(y) + 0.1)


# Five inputs of three or four dimensions
input_tensors = [
    torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]]),
    torch.tensor([[[0.5, 1.0, 2.0], [3.0, 1.0, 0.0]]]),
    torch.tensor([[[[1.0, -1.0, 2.0], [0.0, 2.0, -1.0]]]]),
    torch.ones(1, 2, 3) * 1.25,
    torch.tensor([[[[2.0, 2.0, 4.0], [-3.0, 1.0, 1.0]]]]),
]

model = PtModule()
for t in input_tensors:
    print(model(t))

compiled = torch.compile(model, backend="inductor")
print("compiled:", [compiled(t).sum().item() for t in input_tensors])
