import torch
import torch.nn as nn


class Model(nn.Module):
    """
    A matrix product, a division, a sum over the features and a scaling.
    """

    def __init__(self, input_size, hidden_size, scaling_factor):
        super(Model, self).__init__()
        self.weight = nn.Parameter(
            torch.linspace(-1, 1, hidden_size * input_size).view(hidden_size, input_size)
        )
        self.scaling_factor = scaling_factor

    def forward(self, x):
        """
        Args:
            x (torch.Tensor): Input of shape (batch_size, input_size).
        Returns:
            torch.Tensor: Output of shape (batch_size, hidden_size).
        """
        x = torch.matmul(x, self.weight.T)
        x = x / 2
        total = torch.sum(x, dim=1, keepdim=True)
        return torch.relu(x + total) * self.scaling_factor


batch_size = 16
input_size = 10
hidden_size = 20
scaling_factor = 1.5


def get_inputs():
    return [torch.rand(batch_size, input_size)]


def get_init_inputs():
    return [input_size, hidden_size, scaling_factor]


if __name__ == "__main__":
    print(Model(*get_init_inputs())(*get_inputs()).shape)
