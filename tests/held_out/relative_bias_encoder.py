import copy, math
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class EncoderConfig:
    d_model: int = 16
    d_kv: int = 4
    d_ff: int = 24
    num_heads: int = 4
    num_layers: int = 2
    relative_attention_num_buckets: int = 8
    relative_attention_max_distance: int = 16
    layer_norm_epsilon: float = 1e-6
    vocab_size: int = 30

class LayerNormNoBias(nn.Module):
    def __init__(self, hidden_size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.type_as(self.weight)


def gelu_new(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

class SelfAttention(nn.Module):
    def __init__(self, config, has_bias=False):
        super().__init__()
        self.config = config
        inner = config.num_heads * config.d_kv
        self.q, self.k, self.v = (nn.Linear(config.d_model, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, config.d_model, bias=False)
        if has_bias:
            self.relative_attention_bias = nn.Embedding(config.relative_attention_num_buckets, config.num_heads)

    @staticmethod
    def _bucket(relative_position, num_buckets, max_distance):
        num_buckets //= 2
        relative_buckets = (relative_position > 0).to(torch.long) * num_buckets
        relative_position = torch.abs(relative_position)
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        scaled = torch.log(relative_position.float().clamp(min=1) / max_exact + 1e-4)
        large = max_exact + (scaled / math.log(max_distance / max_exact) * (num_buckets - max_exact)).to(torch.long)
        large = torch.min(large, torch.full_like(large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = torch.arange(query_length, dtype=torch.long)[:, None]
        memory_position = torch.arange(key_length, dtype=torch.long)[None, :]
        bucket = self._bucket(memory_position - context_position, self.config.relative_attention_num_buckets,
                              self.config.relative_attention_max_distance)
        return self.relative_attention_bias(bucket).permute([2, 0, 1]).unsqueeze(0)

    def forward(self, hidden, mask, position_bias=None):
        b, n = hidden.shape[:2]

        def shape(states):
            return states.view(b, -1, self.config.num_heads, self.config.d_kv).transpose(1, 2)

        q, k, v = shape(self.q(hidden)), shape(self.k(hidden)), shape(self.v(hidden))
        scores = torch.matmul(q, k.transpose(3, 2))
        if position_bias is None:
            position_bias = self.compute_bias(n, n) + mask
        scores += position_bias
        weights = nn.functional.softmax(scores.float(), dim=-1).type_as(scores)
        context = torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, n, -1)
        return self.o(context), position_bias


class GatedFeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wi_0, self.wi_1 = [nn.Linear(config.d_model, config.d_ff, bias=False) for _ in range(2)]
        self.wo = nn.Linear(config.d_ff, config.d_model, bias=False)

    def forward(self, x):
        return self.wo(gelu_new(self.wi_0(x)) * self.wi_1(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        config = EncoderConfig()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.attn = nn.ModuleList(SelfAttention(config, has_bias=i == 0) for i in range(config.num_layers))
        norm = LayerNormNoBias(config.d_model, eps=config.layer_norm_epsilon)
        self.norms = nn.ModuleList(copy.deepcopy(norm) for _ in range(2 * config.num_layers + 1))
        self.ff = nn.ModuleList(GatedFeedForward(config) for _ in range(config.num_layers))

    def forward(self, input_ids, attention_mask=None):
        hidden = self.embed_tokens(input_ids)
        attention_mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        extended = attention_mask[:, None, None, :].to(dtype=hidden.dtype)
        extended = (1.0 - extended) * torch.finfo(hidden.dtype).min
        bias = None
        for i, (attn, ff) in enumerate(zip(self.attn, self.ff)):
            out, bias = attn(self.norms[2 * i](hidden), extended, bias)
            hidden = hidden + out
            hidden = hidden + ff(self.norms[2 * i + 1](hidden))
        hidden = self.norms[-1](hidden)
        kept = attention_mask.unsqueeze(-1).expand(hidden.size()).float()
        return hidden, torch.sum(hidden * kept, 1) / torch.clamp(kept.sum(1), min=1e-9)


encoder = Encoder()
ids = torch.randint(0, 30, (2, 6))
attention = torch.ones(2, 6, dtype=torch.long)
attention[1, 4:] = 0
encoder(ids, attention)
