import torch
from torch import nn
from torch.nn import functional as F
from dataclasses import dataclass, field


@dataclass
class MoeArgs:
    dim: int = 12
    hidden_dim: int = 16
    num_experts: int = 4
    top_k: int = 2
    norm_topk_prob: bool = True
    capacity_factor: float = field(default=1.5)


class Expert(nn.Module):
    def __init__(self, args: MoeArgs):
        super().__init__()
        self.w1 = nn.Linear(args.dim, args.hidden_dim, bias=False)
        self.w2 = nn.Linear(args.hidden_dim, args.dim, bias=False)
        self.w3 = nn.Linear(args.dim, args.hidden_dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


def load_balancing_loss(gate_logits, num_experts, top_k):
    routing_weights = torch.nn.functional.softmax(gate_logits, dim=-1)
    _, selected_experts = torch.topk(routing_weights, top_k, dim=-1)
    expert_mask = torch.nn.functional.one_hot(selected_experts, num_experts)
    tokens_per_expert = torch.mean(expert_mask.float(), dim=0)
    router_prob_per_expert = torch.mean(routing_weights, dim=0)
    overall_loss = torch.sum(tokens_per_expert * router_prob_per_expert.unsqueeze(0))
    return overall_loss * num_experts


class Model(nn.Module):
    def __init__(self, args=None):
        super().__init__()
        self.args = args or MoeArgs()
        self.gate = nn.Linear(self.args.dim, self.args.num_experts, bias=False)
        self.experts = nn.ModuleList(Expert(self.args) for _ in range(self.args.num_experts))
        self.shared_expert_gate = nn.Linear(self.args.dim, 1)
        self.shared_expert = Expert(self.args)

    def capacity_mask(self, expert_mask, n_tokens):
        """Tokens beyond an expert's capacity are dropped, first come, first served."""
        args = self.args
        capacity = int(args.capacity_factor * n_tokens * args.top_k / args.num_experts)
        position = torch.cumsum(expert_mask, dim=0) * expert_mask
        return (position <= capacity).logical_and(expert_mask.bool())

    def forward(self, hidden_states: torch.Tensor):
        batch_size, sequence_length, hidden_dim = hidden_states.shape
        hidden_states = hidden_states.view(-1, hidden_dim)
        router_logits = self.gate(hidden_states)

        routing_weights = F.softmax(router_logits, dim=1, dtype=torch.float)
        routing_weights, selected_experts = torch.topk(routing_weights, self.args.top_k, dim=-1)
        if self.args.norm_topk_prob:
            routing_weights /= routing_weights.sum(dim=-1, keepdim=True)
        routing_weights = routing_weights.to(hidden_states.dtype)

        final_hidden_states = torch.zeros(
            (batch_size * sequence_length, hidden_dim), dtype=hidden_states.dtype, device=hidden_states.device
        )
        expert_mask = F.one_hot(selected_experts, num_classes=self.args.num_experts).permute(2, 1, 0)
        dispatched = self.capacity_mask(expert_mask.sum(1).t(), batch_size * sequence_length)
        for expert_idx in range(self.args.num_experts):
            idx, top_x = torch.where(expert_mask[expert_idx])
            if top_x.shape[0] == 0:
                continue
            current_state = hidden_states[None, top_x].reshape(-1, hidden_dim)
            current = self.experts[expert_idx](current_state) * routing_weights[top_x, idx, None]
            current = current * dispatched[top_x, expert_idx].unsqueeze(-1)
            final_hidden_states.index_add_(0, top_x, current.to(hidden_states.dtype))

        shared = self.shared_expert(hidden_states)
        shared = torch.sigmoid(self.shared_expert_gate(hidden_states)) * shared
        final_hidden_states = (final_hidden_states + shared).reshape(batch_size, sequence_length, hidden_dim)
        aux = load_balancing_loss(router_logits, self.args.num_experts, self.args.top_k)
        return final_hidden_states, aux, dispatched.sum(dim=0)


def get_inputs():
    return [torch.randn(2, 5, 12)]


def get_init_inputs():
    return []
