"""A tagger of words: an LSTM in both directions."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class TaggerConfig:
    vocabulary: int = 50
    hidden: int = 12
    tags: list = field(default_factory=lambda: ["O", "B", "I"])


class Tagger(nn.Module):
    def __init__(self, config: TaggerConfig | None = None):
        super().__init__()
        config = config or TaggerConfig()
        self.embed = nn.Embedding(config.vocabulary, config.hidden, padding_idx=0)
        self.lstm = nn.LSTM(config.hidden, config.hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * config.hidden, len(config.tags))

    def forward(self, tokens: Tensor) -> dict[str, Tensor]:
        states, (h, _) = self.lstm(self.embed(tokens))
        mask = (tokens != 0).unsqueeze(-1)
        scores = self.out(states).masked_fill(~mask, 0.0)
        return {"scores": scores, "last": torch.tanh(h[-1])}
