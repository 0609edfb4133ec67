import torch
import torch.nn as nn
import torch.nn.functional as F
from typing import NamedTuple, Optional


class BeamState(NamedTuple):
    sequences: torch.Tensor
    scores: torch.Tensor
    finished: torch.Tensor


def length_penalty(length: int, alpha: float = 0.6) -> float:
    return ((5 + length) / 6) ** alpha


def ban_repeats(log_probs, sequences, penalty: float):
    """Repetition penalty, as in CTRL, on log-probabilities."""
    seen = log_probs.gather(-1, sequences)
    seen = torch.where(seen < 0, seen * penalty, seen / penalty)
    return log_probs.scatter(-1, sequences, seen)


def top_k_filter(logits, k: Optional[int] = None):
    if k is None or k >= logits.size(-1):
        return logits
    kth = torch.topk(logits, k, dim=-1)[0][..., -1, None]
    return logits.masked_fill(logits < kth, float("-inf"))


class Model(nn.Module):
    def __init__(self, vocab, hidden, beams, eos):
        super().__init__()
        self.vocab, self.beams, self.eos = vocab, beams, eos
        self.embed = nn.Embedding(vocab, hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.lm_head = nn.Linear(hidden, vocab, bias=False)
        self.lm_head.weight = self.embed.weight

    def logits(self, sequences):
        emb = self.embed(sequences)
        decay = 0.5 ** torch.arange(sequences.size(-1) - 1, -1, -1, device=emb.device, dtype=emb.dtype)
        pooled = (emb * decay[:, None]).sum(-2)
        return self.lm_head(torch.tanh(self.mix(pooled)))

    def step(self, state: BeamState) -> BeamState:
        batch, beams, length = state.sequences.shape
        log_probs = F.log_softmax(top_k_filter(self.logits(state.sequences), k=self.vocab - 3), dim=-1)
        log_probs = ban_repeats(log_probs, state.sequences, penalty=1.2)
        only_eos = torch.full_like(log_probs, float("-inf"))
        only_eos[..., self.eos] = 0.0
        log_probs = torch.where(state.finished.unsqueeze(-1), only_eos, log_probs)
        total = state.scores.unsqueeze(-1) + log_probs
        scores, flat = total.view(batch, -1).topk(beams, dim=-1)
        origin = torch.div(flat, self.vocab, rounding_mode="floor")
        token = flat % self.vocab
        rows = torch.arange(batch, device=flat.device)[:, None]
        sequences = torch.cat([state.sequences[rows, origin], token.unsqueeze(-1)], dim=-1)
        finished = state.finished.gather(1, origin) | (token == self.eos)
        return BeamState(sequences, scores, finished)

    def forward(self, prompt):
        batch = prompt.shape[0]
        sequences = prompt[:, None, :].repeat(1, self.beams, 1)
        scores = torch.tensor([0.0] + [-1e9] * (self.beams - 1)).repeat(batch, 1)
        state = BeamState(sequences, scores, torch.zeros(batch, self.beams, dtype=torch.bool))
        for _ in range(3):
            state = self.step(state)
        normalised = state.scores / length_penalty(state.sequences.size(-1))
        best = normalised.argmax(dim=-1)
        chosen = state.sequences[torch.arange(batch), best]
        return chosen, normalised, state.finished.any(dim=1)


def get_inputs():
    return [torch.randint(2, 15, (2, 4))]


def get_init_inputs():
    return [15, 12, 3, 1]
