import torch
import torch.nn as nn


def arange_like(x, dim: int):
    return x.new_ones(x.shape[dim]).cumsum(0) - 1


def log_sinkhorn_iterations(Z, log_mu, log_nu, iters: int):
    """ Perform Sinkhorn Normalization in Log-space for stability"""
    u, v = torch.zeros_like(log_mu), torch.zeros_like(log_nu)
    for _ in range(iters):
        u = log_mu - torch.logsumexp(Z + v.unsqueeze(1), dim=2)
        v = log_nu - torch.logsumexp(Z + u.unsqueeze(2), dim=1)
    return Z + u.unsqueeze(2) + v.unsqueeze(1)


def log_optimal_transport(scores, alpha, iters: int):
    b, m, n = scores.shape
    one = scores.new_tensor(1)
    ms, ns = (m * one).to(scores), (n * one).to(scores)

    bins0 = alpha.expand(b, m, 1)
    bins1 = alpha.expand(b, 1, n)
    alpha = alpha.expand(b, 1, 1)
    couplings = torch.cat([torch.cat([scores, bins0], -1), torch.cat([bins1, alpha], -1)], 1)

    norm = -(ms + ns).log()
    log_mu = torch.cat([norm.expand(m), ns.log()[None] + norm])
    log_nu = torch.cat([norm.expand(n), ms.log()[None] + norm])
    log_mu, log_nu = log_mu[None].expand(b, -1), log_nu[None].expand(b, -1)

    Z = log_sinkhorn_iterations(couplings, log_mu, log_nu, iters)
    return Z - norm  # multiply probabilities by M+N


class Matcher(nn.Module):
    def __init__(self, descriptor_dim=8, sinkhorn_iterations=4, match_threshold=0.02):
        super().__init__()
        self.iters = sinkhorn_iterations
        self.threshold = match_threshold
        self.kenc = nn.Sequential(nn.Conv1d(3, 8, kernel_size=1), nn.ReLU(), nn.Conv1d(8, descriptor_dim, 1))
        self.final_proj = nn.Conv1d(descriptor_dim, descriptor_dim, kernel_size=1, bias=True)
        self.bin_score = nn.Parameter(torch.tensor(1.0))

    def encode(self, desc, kpts, scores):
        inputs = [kpts.transpose(1, 2), scores.unsqueeze(1)]
        return desc + self.kenc(torch.cat(inputs, dim=1))

    def forward(self, desc0, desc1, kpts0, kpts1, conf0, conf1):
        desc0 = self.final_proj(self.encode(desc0, kpts0, conf0))
        desc1 = self.final_proj(self.encode(desc1, kpts1, conf1))
        scores = torch.einsum("bdn,bdm->bnm", desc0, desc1)
        scores = scores / desc0.size(1) ** .5
        scores = log_optimal_transport(scores, self.bin_score, iters=self.iters)

        # Get the matches with score above "match_threshold".
        max0, max1 = scores[:, :-1, :-1].max(2), scores[:, :-1, :-1].max(1)
        indices0, indices1 = max0.indices, max1.indices
        mutual0 = arange_like(indices0, 1)[None] == indices1.gather(1, indices0)
        zero = scores.new_tensor(0)
        mscores0 = torch.where(mutual0, max0.values.exp(), zero)
        valid0 = mutual0 & (mscores0 > self.threshold)
        indices0 = torch.where(valid0, indices0, indices0.new_tensor(-1))
        return {
            "matches0": indices0,
            "matching_scores0": mscores0,
            "marginal": scores.exp().sum(dim=(1, 2)),
        }


matcher = Matcher().eval()
d0 = torch.randn(2, 8, 5)
d1 = torch.randn(2, 8, 7)
k0, k1 = torch.rand(2, 5, 2), torch.rand(2, 7, 2)
c0, c1 = torch.rand(2, 5), torch.rand(2, 7)
result = matcher(d0, d1, k0, k1, c0, c1)
print({k: v.shape for k, v in result.items()})
