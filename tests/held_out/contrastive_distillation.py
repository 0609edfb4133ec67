import torch
import torch.nn as nn
import torch.nn.functional as F


class ProjectionHead(nn.Module):
    def __init__(self, dim_in, dim_out):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim_in, dim_in),
            nn.BatchNorm1d(dim_in),
            nn.ReLU(inplace=True),
            nn.Linear(dim_in, dim_out),
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1, eps=1e-8)


def info_nce(z_a, z_b, temperature=0.1):
    n = z_a.shape[0]
    z = torch.cat([z_a, z_b], dim=0)
    sim = torch.mm(z, z.T) / temperature
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=z.device), -9e15)
    targets = torch.arange(2 * n, device=z.device)
    targets = (targets + n) % (2 * n)
    return F.cross_entropy(sim, targets)


def smoothed_nll(logits, labels, smoothing: float):
    confidence = 1.0 - smoothing
    logprobs = F.log_softmax(logits, dim=-1)
    nll = -logprobs.gather(dim=-1, index=labels.unsqueeze(1))
    nll = nll.squeeze(1)
    smooth = -logprobs.mean(dim=-1)
    loss = confidence * nll + smoothing * smooth
    return loss.mean()


def distill(student_logits, teacher_logits, T: float):
    p = F.log_softmax(student_logits / T, dim=1)
    with torch.no_grad():
        q = F.softmax(teacher_logits / T, dim=1)
    return F.kl_div(p, q, reduction="batchmean") * (T * T)


class Model(nn.Module):
    def __init__(self, feature_dim, num_classes, queue_size=12):
        super().__init__()
        self.head = ProjectionHead(feature_dim, 8)
        self.classifier = nn.Linear(feature_dim, num_classes)
        self.logit_scale = nn.Parameter(torch.ones([]) * 2.0)
        queue = F.normalize(torch.randn(8, queue_size), dim=0)
        self.register_buffer("queue", queue)
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch = keys.shape[0]
        ptr = int(self.queue_ptr)
        self.queue[:, ptr:ptr + batch] = keys.t()
        self.queue_ptr[0] = (ptr + batch) % self.queue.shape[1]

    def forward(self, view1, view2, labels, teacher):
        q, k = self.head(view1), self.head(view2)
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        moco_logits = torch.cat([l_pos, l_neg], dim=1) * self.logit_scale.exp()
        moco = F.cross_entropy(moco_logits, torch.zeros(q.size(0), dtype=torch.long))
        logits = self.classifier(view1)
        loss = info_nce(q, k) + moco + smoothed_nll(logits, labels, 0.1)
        loss = loss + 0.5 * distill(logits, teacher, T=4.0)
        if self.training:
            self._dequeue_and_enqueue(k.detach())
        return loss, moco_logits


batch = 4

def get_inputs():
    torch.manual_seed(7)
    base = torch.randn(batch, 10)
    noise = torch.randn_like(base) * 0.1
    labels = torch.randint(0, 5, (batch,))
    return [base, base + noise, labels, torch.randn(batch, 5)]

def get_init_inputs():
    return [10, 5]
