import torch
import torch.nn as nn
import torch.nn.functional as F


class PMbodule(nn.Module):
    def __init__(self):
        super(PMbodule, self).__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, 1.5]))
        self.shift = nn.Parameter(torch.tensor([0.25, -0.75]))

    def forward(self, x):
        # Normalise the last dimension, then mix it with itself
        mean = x.mean(dim=-1, keepdim=True)
        centred = x - mean
        y = centred * self.scale + self.shift
        for i in range(2):
            y = torch.tanh(y) + x / (i + 2)
        if x.dim() == 4:
            y = y.transpose(1, 2)
        z = y @ y.transpose(-2, -1)
        z = (F.relu(-z) + 0.25) ** 0.5 + z * 2
        return z.sum(dim=-1)


# Inputs
input_tensors = [
    torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.5]]]),
    torch.tensor([[[0.5, -1.0], [1.5, 2.5]], [[-0.5, 3.0], [2.0, 0.75]]]),
    torch.tensor([[[[1.0, 0.25], [2.0, 0.75]], [[3.0, 1.25], [4.0, 1.75]]]]),
    torch.tensor([[[-2.0, 2.0], [4.0, -4.5]], [[6.0, 6.5], [-1.0, 0.5]]]),
    torch.tensor([[[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.7], [0.8, 0.6]]]]),
]

if __name__ == "__main__":
    model = PMbodule()
    for i, tensor in enumerate(input_tensors):
        output = model(tensor)
        print(f"Input {i}: shape {tuple(tensor.shape)}, output {output}")
    print("The module is runnable")
