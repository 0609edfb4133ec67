"""The passes of Inductor that are off by default: splits and cats merged, equal small operators batched."""

from __future__ import annotations

from typing import Any

_SPLIT_AND_CAT = (
    "normalization_pass remove_split_with_size_one_pass merge_getitem_cat_pass merge_stack_tahn_unbind_pass "
    "merge_splits_pass mutate_cat_pass split_cat_pass unbind_stack_pass einsum_to_pointwise_pass "
    "normalization_aten_pass unbind_stack_aten_pass move_view_after_cat_aten_pass decompose_mm_pass"
).split()
_OF_SO_MANY_SLICES = (
    "split_cat_to_slices_pass unbind_cat_to_view_pass split_stack_to_cats_pass unbind_stack_to_slices_pass "
    "move_reshape_out_of_split_stack_pass split_cat_aten_pass select_cat_aten_pass"
).split()
_BATCHED = (
    "batch_linear_lhs batch_linear batch_layernorm batch_tanh batch_sigmoid batch_relu batch_detach batch_nan_to_num "
    "batch_clamp batch_linear_post_grad batch_aten_tanh batch_aten_sigmoid batch_aten_relu batch_aten_add "
    "batch_aten_sub batch_aten_div batch_aten_mul"
).split()

FUSIONS_SINCE = "2.13"
"""The first torch that is known to have all of them."""

_FEW = 2
"""From so many slices or operators on: torch begins with 10 and 5, more than a program of a fuzzer has."""


def fusion_options() -> dict[str, dict[str, dict[str, Any]]]:
    """Inductor's options that turn them on; not those of random draws. Torch ``FUSIONS_SINCE`` and later take them."""
    passes: dict[str, dict[str, Any]] = {
        **{name: {} for name in _SPLIT_AND_CAT},
        **{name: {"threshold_to_cat": _FEW} for name in _OF_SO_MANY_SLICES},
        **{name: {"min_fuse_set_size": _FEW} for name in _BATCHED},
    }
    after = {name: options for name, options in passes.items() if _is_after_autograd(name)}
    before = {name: options for name, options in passes.items() if name not in after}
    return {"pre_grad_fusion_options": before, "post_grad_fusion_options": after}


def _is_after_autograd(name: str) -> bool:
    return "_aten_" in name or name in ("decompose_mm_pass", "batch_linear_post_grad")
