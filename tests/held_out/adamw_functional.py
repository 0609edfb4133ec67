"""One step of AdamW with AMSGrad, gradient clipping and a cosine schedule, in the style of torch.optim's functions."""
import math
from typing import Dict, List, Optional

import torch
from torch import Tensor


def clip_grad_norm(grads: List[Tensor], max_norm: float, norm_type: float = 2.0) -> Tensor:
    if len(grads) == 0:
        return torch.tensor(0.0)
    if norm_type == float("inf"):
        norms = [g.detach().abs().max() for g in grads]
        total_norm = norms[0] if len(norms) == 1 else torch.max(torch.stack(norms))
    else:
        total_norm = torch.norm(torch.stack([torch.norm(g.detach(), norm_type) for g in grads]), norm_type)
    clip_coef = max_norm / (total_norm + 1e-6)
    clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
    for g in grads:
        g.mul_(clip_coef_clamped)
    return total_norm


def cosine_lr(step: int, *, base_lr: float, warmup: int, total: int, min_ratio: float = 0.1) -> float:
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / max(1, total - warmup))
    return base_lr * (min_ratio + (1 - min_ratio) * 0.5 * (1.0 + math.cos(math.pi * progress)))


def _single_tensor_adamw(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *,
                         amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float, eps: float,
                         maximize: bool = False):
    for i, param in enumerate(params):
        grad = grads[i] if not maximize else -grads[i]
        exp_avg = exp_avgs[i]
        exp_avg_sq = exp_avg_sqs[i]
        step_t = state_steps[i]
        step_t += 1

        # Perform stepweight decay
        param.mul_(1 - lr * weight_decay)

        # Decay the first and second moment running average coefficient
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
        step = step_t.item()
        bias_correction1 = 1 - beta1**step
        bias_correction2 = 1 - beta2**step
        step_size = lr / bias_correction1
        bias_correction2_sqrt = math.sqrt(bias_correction2)
        if amsgrad:
            torch.maximum(max_exp_avg_sqs[i], exp_avg_sq, out=max_exp_avg_sqs[i])
            denom = (max_exp_avg_sqs[i].sqrt() / bias_correction2_sqrt).add_(eps)
        else:
            denom = (exp_avg_sq.sqrt() / bias_correction2_sqrt).add_(eps)
        param.addcdiv_(exp_avg, denom, value=-step_size)


def program(params: List[Tensor], grads: List[Tensor], state: Dict[str, List[Tensor]], epoch: int,
            amsgrad: Optional[bool] = None):
    lr = cosine_lr(epoch, base_lr=1e-2, warmup=3, total=20)
    with torch.no_grad():
        norm = clip_grad_norm(grads, max_norm=1.0)
        _single_tensor_adamw(
            params, grads, state["exp_avg"], state["exp_avg_sq"], state["max_exp_avg_sq"], state["step"],
            amsgrad=bool(amsgrad), beta1=0.9, beta2=0.999, lr=lr, weight_decay=0.01, eps=1e-8,
        )
    ratio = [p.norm() / g.norm().clamp(min=1e-12) for p, g in zip(params, grads)]
    return norm, torch.stack(ratio), state["step"]


def inputs(rng):
    shapes = [(6, 5), (6,), (2, 3, 4)]
    for epoch, amsgrad in ((1, True), (7, False)):
        yield {
            "params": [rng.normal(*s) for s in shapes],
            "grads": [rng.normal(*s) for s in shapes],
            "state": {
                "exp_avg": [torch.zeros(*s) for s in shapes],
                "exp_avg_sq": [torch.zeros(*s) for s in shapes],
                "max_exp_avg_sq": [torch.zeros(*s) for s in shapes],
                "step": [torch.tensor(3.0) for _ in shapes],
            },
            "epoch": epoch,
            "amsgrad": amsgrad,
        }
