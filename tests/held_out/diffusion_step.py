# DDIM step with classifier-free guidance and a tiny noise predictor.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def betas_for_alpha_bar(num_diffusion_timesteps, max_beta=0.999):
    def alpha_bar(time_step):
        return math.cos((time_step + 0.008) / 1.008 * math.pi / 2) ** 2

    betas = []
    for i in range(num_diffusion_timesteps):
        t1 = i / num_diffusion_timesteps
        t2 = (i + 1) / num_diffusion_timesteps
        betas.append(min(1 - alpha_bar(t2) / alpha_bar(t1), max_beta))
    return torch.tensor(betas, dtype=torch.float32)


def extract(a, t, x_shape):
    b, *_ = t.shape
    out = a.gather(-1, t)
    return out.reshape(b, *((1,) * (len(x_shape) - 1)))


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(start=0, end=half, dtype=torch.float32) / half)
    args = timesteps[:, None].float() * freqs[None]
    embedding = torch.cat([torch.cos(args), torch.sin(args)], dim=-1)
    if dim % 2:
        embedding = torch.cat([embedding, torch.zeros_like(embedding[:, :1])], dim=-1)
    return embedding


class ResBlock(nn.Module):
    def __init__(self, channels, emb_channels):
        super().__init__()
        self.norm1 = nn.GroupNorm(2, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.emb = nn.Linear(emb_channels, 2 * channels)
        self.norm2 = nn.GroupNorm(2, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.emb(F.silu(emb))[:, :, None, None].chunk(2, dim=1)
        h = self.norm2(h) * (1 + scale) + shift
        return x + self.conv2(F.silu(h))


class Model(nn.Module):
    def __init__(self, steps=20, channels=4, emb_dim=9):
        super().__init__()
        betas = betas_for_alpha_bar(steps)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        self.register_buffer("alphas_cumprod", alphas_cumprod)
        self.register_buffer("alphas_cumprod_prev", F.pad(alphas_cumprod[:-1], (1, 0), value=1.0))
        self.emb_dim = emb_dim
        self.label = nn.Embedding(4, emb_dim)
        self.stem = nn.Conv2d(1, channels, 1)
        self.block = ResBlock(channels, emb_dim)
        self.head = nn.Conv2d(channels, 1, kernel_size=1)

    def predict(self, x, t, y):
        emb = timestep_embedding(t, self.emb_dim) + self.label(y)
        return self.head(self.block(self.stem(x), emb))

    def forward(self, x, t, y, guidance: float = 2.0, eta: float = 0.0):
        combined = torch.cat([x, x], dim=0)
        null = torch.full_like(y, 3)
        eps = self.predict(combined, torch.cat([t, t]), torch.cat([y, null]))
        cond_eps, uncond_eps = torch.split(eps, len(eps) // 2, dim=0)
        eps = uncond_eps + guidance * (cond_eps - uncond_eps)

        alpha = extract(self.alphas_cumprod, t, x.shape)
        alpha_prev = extract(self.alphas_cumprod_prev, t, x.shape)
        pred_x0 = (x - (1 - alpha).sqrt() * eps) / alpha.sqrt()
        s = pred_x0.abs().flatten(1).max(dim=1)[0].clamp(min=1.0).view(-1, 1, 1, 1)
        pred_x0 = torch.minimum(torch.maximum(pred_x0, -s), s) / s
        sigma = eta * torch.sqrt((1 - alpha_prev) / (1 - alpha)) * torch.sqrt(1 - alpha / alpha_prev)
        direction = torch.sqrt(1 - alpha_prev - sigma**2) * eps
        sample = torch.sqrt(alpha_prev) * pred_x0 + direction
        nonzero_mask = (t != 0).float().view(-1, *([1] * (len(x.shape) - 1)))
        return sample * nonzero_mask + pred_x0 * (1 - nonzero_mask), pred_x0


x = torch.randn(3, 1, 6, 6)
t = torch.tensor([0, 7, 19])
y = torch.tensor([0, 1, 2])

net = Model()
out = net(x, t, y)
