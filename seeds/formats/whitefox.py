import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 1, stride=1, padding=1)
        self.linear = torch.nn.Linear(10, 5)

    def forward(self, x1):
        v1 = self.conv(x1)
        v2 = v1 + 3
        v3 = torch.clamp_min(v2, 0)
        v4 = torch.clamp_max(v3, 6)
        v5 = v1 * v4
        v6 = v5 / 6
        v7 = self.linear(v6)
        return torch.relu(v7 - v7.mean(dim=-1, keepdim=True))


# Initializing the model
m = Model()

# Inputs to the model
x1 = torch.randn(1, 3, 8, 8)
__output__ = m(x1)
print(__output__.shape)
