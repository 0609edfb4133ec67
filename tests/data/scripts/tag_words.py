"""Tag the words of a few sentences with a recurrent network, as a service would: no gradients, nothing compiled."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

TAGS = ("noun", "verb", "adjective", "determiner", "other")
BUCKETS = 64
SENTENCES = """
the small dog chases a red ball
birds sing
sailors have never seen the other side of this hill
a compiler must not change what a program computes
she reads
""".strip().splitlines()


def bucket(word: str) -> int:
    """The number of a word; 0 is for padding."""
    digest = hashlib.sha256(word.encode()).digest()
    return 1 + int.from_bytes(digest[:4], "little") % (BUCKETS - 1)


def batches(sentences: list[str], size: int) -> Iterator[tuple[list[list[str]], torch.Tensor, torch.Tensor]]:
    """Words, their numbers and which of them are words, of so many sentences at a time."""
    for start in range(0, len(sentences), size):
        words = [sentence.split() for sentence in sentences[start : start + size]]
        numbers = [torch.tensor([bucket(word) for word in row]) for row in words]
        padded = pad_sequence(numbers, batch_first=True)
        yield words, padded, padded > 0


class Encoder(nn.Module):
    """Embeds words and reads them in both directions."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(BUCKETS, features, padding_idx=0)
        self.forwards = nn.GRUCell(features, features)
        self.backwards = nn.GRUCell(features, features)

    def read(self, cell: nn.GRUCell, words: torch.Tensor, order: list[int], mask: torch.Tensor) -> torch.Tensor:
        state = words.new_zeros(words.shape[0], words.shape[2])
        states = [state] * words.shape[1]
        for position in order:
            new = cell(words[:, position], state)
            state = torch.where(mask[:, position, None], new, state)
            states[position] = state
        return torch.stack(states, dim=1)

    def forward(self, numbers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        words = self.embedding(numbers)
        order = list(range(numbers.shape[1]))
        there = self.read(self.forwards, words, order, mask)
        back = self.read(self.backwards, words, order[::-1], mask)
        return torch.cat([there, back], dim=-1)


class Tagger(nn.Module):
    """Scores of tags for each word; positions that are none have the score of the last tag."""

    def __init__(self, features: int = 12) -> None:
        super().__init__()
        self.encoder = Encoder(features)
        self.norm = nn.LayerNorm(2 * features)
        self.scores = nn.Linear(2 * features, len(TAGS))

    def forward(self, numbers: torch.Tensor, *, mask: torch.Tensor) -> torch.Tensor:
        scores = self.scores(self.norm(self.encoder(numbers, mask)))
        outside = torch.full_like(scores, float("-inf"))
        outside[..., -1] = 0.0
        return torch.where(mask[..., None], scores, outside).log_softmax(dim=-1)


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(1)
    tagger = Tagger().eval()
    for words, numbers, mask in batches(SENTENCES, options.batch):
        best = tagger(numbers, mask=mask).argmax(dim=-1)
        for row, tags in zip(words, best.tolist(), strict=True):
            print(" ".join(f"{word}/{TAGS[tag]}" for word, tag in zip(row, tags, strict=False)))


if __name__ == "__main__":
    main()
