# Three steps of SGD with Nesterov momentum on a small MLP, and an exponential moving average of its weights.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, lr=0.05, momentum=0.9, decay=0.99):
        super().__init__()
        self.lr, self.momentum, self.decay = lr, momentum, decay
        self.w1 = nn.Parameter(torch.randn(8, 4) / 2)
        self.b1 = nn.Parameter(torch.zeros(8))
        self.w2 = nn.Parameter(torch.randn(1, 8) / 3)
        for name, p in list(self.named_parameters()):
            self.register_buffer("ema_" + name, p.detach().clone())
        self.updates = 0

    def loss(self, params, x, y):
        w1, b1, w2 = params
        h = F.leaky_relu(x @ w1.T + b1, negative_slope=0.2)
        pred = (h @ w2.T)[:, 0]
        return F.smooth_l1_loss(pred, y, beta=0.5) + 1e-3 * sum((p ** 2).sum() for p in (w1, w2))

    def loss_grads(self, params, x, y):
        """Gradients by hand, so that the step itself can be compiled."""
        w1, b1, w2 = params
        z = x @ w1.T + b1
        h = torch.where(z > 0, z, 0.2 * z)
        err = (h @ w2.T).squeeze(-1) - y
        d = torch.where(err.abs() < 0.5, err / 0.5, err.sign()) / y.numel()
        gw2 = d[None, :] @ h + 2e-3 * w2
        dz = (d[:, None] * w2) * torch.where(z > 0, torch.ones_like(z), torch.full_like(z, 0.2))
        return [dz.T @ x + 2e-3 * w1, dz.sum(0), gw2]

    def forward(self, x, y):
        params = [p.detach().clone() for p in (self.w1, self.b1, self.w2)]
        velocity = [torch.zeros_like(p) for p in params]
        history = []
        for step in range(3):
            history.append(self.loss(params, x, y))
            grads = self.loss_grads(params, x, y)
            for p, g, buf in zip(params, grads, velocity):
                if step == 0:
                    buf.copy_(g)
                else:
                    buf.mul_(self.momentum).add_(g)
                g = g.add(buf, alpha=self.momentum)
                p.add_(g, alpha=-self.lr)
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for name, p in zip(("w1", "b1", "w2"), params):
            ema = getattr(self, "ema_" + name)
            ema -= (1 - d) * (ema - p)
        return torch.stack(history), [p for p in params], self.ema_w1 * 1


model = Model()
x = torch.randn(16, 4)
y = x[:, 0] * 2 - x[:, 1].abs()
losses, params, ema = model(x, y)
print("loss:", losses[-1].item())
