"""A bidirectional LSTM tagger with characters (after Lample et al., 2016), without its CRF."""

import torch
from torch import nn


class CharEncoder(nn.Module):
    def __init__(self, chars, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(chars, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)

    def forward(self, chars):
        batch, words, length = chars.shape
        embedded = self.embed(chars.view(batch * words, length))
        _, (h, _) = self.lstm(embedded)
        return torch.cat([h[0], h[1]], dim=-1).view(batch, words, -1)


class LSTMTagger(nn.Module):
    def __init__(self, vocab=20000, chars=100, word_dim=100, char_dim=25, hidden=100, tags=17):
        super().__init__()
        self.words = nn.Embedding(vocab, word_dim)
        self.chars = CharEncoder(chars, char_dim, char_dim)
        self.lstm = nn.LSTM(word_dim + 2 * char_dim, hidden, batch_first=True, bidirectional=True)
        self.project = nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, tags)

    def forward(self, words, chars):
        x = torch.cat([self.words(words), self.chars(chars)], dim=-1)
        h, _ = self.lstm(x)
        h = torch.tanh(self.project(h))
        return torch.log_softmax(self.out(h), dim=-1)
