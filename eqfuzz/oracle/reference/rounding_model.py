"""Model of legal rounding of ATen operators: which are exact, how many terms they add, where they can hide noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from eqfuzz.torch_internals.operators import OpOverload, overload_name, schema_of

HALVES = (torch.float16, torch.bfloat16)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FRESH = _names(
    """empty empty_like empty_strided empty_permuted zeros zeros_like ones ones_like full full_like eye new_empty
    new_empty_strided new_zeros new_ones new_full scalar_tensor tril_indices triu_indices complex_tensor
    _efficientzerotensor"""
)
"""Operators whose result does not depend on the values of their tensor operands."""

BETWEEN_0_AND_1 = {"binary_cross_entropy": (0, 1), "multilabel_margin_loss_backward": (4,)}
"""Operators that raise if one of the operands at these positions is outside of [0, 1]: noise must not move it there."""

_MOVES = _names(
    """clone copy _to_copy to cat stack gather index _unsafe_index index_select take embedding where masked_fill
    masked_scatter masked_select index_fill select_scatter slice_scatter diagonal_scatter as_strided_scatter index_copy
    roll flip rot90 repeat repeat_interleave constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d
    replication_pad1d replication_pad2d replication_pad3d im2col pixel_shuffle pixel_unshuffle channel_shuffle
    tril triu diag_embed _reshape_copy _unsafe_view _reshape_alias alias lift lift_fresh lift_fresh_copy lift_copy
    fill zero contiguous _conj _conj_physical conj_physical _neg_view resolve_conj resolve_neg block_diag
    slice_backward select_backward diagonal_backward zero_ fill_ set_data view_as_real view_as_complex _copy_from
    complex polar_none real imag split_with_sizes_copy split_copy unbind_copy view_copy expand_copy permute_copy
    transpose_copy t_copy slice_copy select_copy squeeze_copy unsqueeze_copy as_strided_copy diagonal_copy unfold_copy
    alias_copy detach_copy narrow_copy view_as_real_copy view_as_complex_copy _foreach_copy _foreach_zero
    _nested_tensor_from_mask_none upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d
    _upsample_nearest_exact2d _upsample_nearest_exact3d swap_none sum_none bernoulli"""
)

_CHOICES = _names(
    """relu relu6 clamp clamp_min clamp_max clip hardtanh threshold hardshrink maximum minimum fmax fmin max min amax
    amin aminmax max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d cummax cummin
    _cummax_helper _cummin_helper sort topk kthvalue median nanmedian mode msort argsort argmax argmin searchsorted
    bucketize abs neg positive sign sgn floor ceil trunc fix round frac copysign heaviside signbit isnan isinf isfinite
    isposinf isneginf eq ne lt le gt ge equal logical_and logical_or logical_not logical_xor any all nonzero
    count_nonzero _unique2 unique_dim unique_consecutive nan_to_num threshold_backward hardtanh_backward is_nonzero isin
    _foreach_abs _foreach_neg _foreach_maximum _foreach_minimum _foreach_clamp_min _foreach_clamp_max _foreach_sign
    _foreach_floor _foreach_ceil _foreach_trunc _foreach_round _foreach_frac _foreach_max isclose"""
)

_STEPPED = _names(
    "floor_divide remainder fmod leaky_relu softshrink elu celu selu nextafter leaky_relu_backward __floordiv__"
)
"""Inexact operators with a jump or a kink, where a few noisy samples may all fall on one side."""

_WHOLE = _names("floor_divide fmod __floordiv__")
"""Operators whose exact result is defined without rounding."""

_JUMPS = _names("floor ceil trunc fix round sign heaviside floor_divide __floordiv__")
"""Operators with few distinct results, which a small change of an operand changes only where it crosses an edge."""

REMAINDERS = _names("remainder __mod__")
"""Operators whose operands get no noise, since the result jumps with their quotient."""

RANKING = _names(
    """argmax argmin max min sort topk kthvalue median nanmedian mode msort argsort cummax cummin _cummax_helper
    _cummin_helper max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d searchsorted
    bucketize _unique2 unique_dim unique_consecutive"""
)
"""Choices among elements of one operand: moving all of them the same way would change nothing."""

_SCATTERS = _names(
    """index_add scatter_add scatter_reduce scatter index_put _index_put_impl _unsafe_index_put index_reduce put
    embedding_dense_backward _embedding_bag _embedding_bag_backward segment_reduce col2im unfold_backward
    max_pool2d_with_indices_backward max_pool3d_with_indices_backward grid_sampler_2d_backward"""
)
"""Accumulations in the tensor's own dtype, even where reductions use a wider one."""

_TRANSPOSED = 6
"""The place of that argument of ``convolution``: on the CPU the columns of a transposed one are added by ``col2im``."""

_INTERPOLATIONS = ("upsample_", "_upsample_", "grid_sampler", "affine_grid")

_ABSOLUTE = {
    "logsumexp": 1.0,
    "_log_softmax": 1.0,
    "log_softmax": 1.0,
    "lgamma": 1.0,
    "digamma": 1.0,
    "polygamma": 1.0,
    "logaddexp": 1.0,
    "logaddexp2": 1.0,
    # One minus a cosine.
    "hann_window": 1.0,
    "hamming_window": 1.0,
    "blackman_window": 1.0,
    "kaiser_window": 1.0,
    "bartlett_window": 1.0,
    # A recurrence, whose terms cancel at the zeros.
    "special_laguerre_polynomial_l": 4.0,
    # The difference of two series, for operands up to 2.
    "special_airy_ai": 0.5,
    # The sine of a phase that grows with the operand, which may be an integer.
    "special_bessel_j0": 4.0,
    "special_bessel_j1": 4.0,
    "special_bessel_y0": 4.0,
    "special_bessel_y1": 4.0,
    # at::vec's polynomial (Abramowitz and Stegun 7.1.26) is good to some 4e-7 absolutely, not relatively.
    "erf": 4.0,
}
"""The error is relative to this number, not to the result: an intermediate of this size cancels."""

_ABSOLUTE_IN_OPERAND = _names(
    "gelu mish gelu_backward silu_backward mish_backward hardswish_backward softplus logit erfcx remainder __mod__"
)
"""The error is relative to the first operand: ``x * (1 + erf(x))``, ``x - (x // y) * y`` cancel for tiny results."""

_FACTORISATIONS = _names(
    """_linalg_svd linalg_eig linalg_eigvals _linalg_eigvals _linalg_eigh linalg_qr geqrf linalg_householder_product
    orgqr ormqr linalg_lstsq linalg_lu linalg_lu_factor_ex linalg_ldl_factor_ex _linalg_det _linalg_slogdet
    linalg_cholesky_ex _linalg_solve_ex linalg_inv_ex linalg_pinv linalg_polar linalg_matrix_exp linalg_matrix_sqrth"""
)
"""Operators of LAPACK whose result is that of a matrix near the operand: by its norm, not number by number (Higham,
Accuracy and Stability of Numerical Algorithms, chapters 9, 19 and 21)."""


def base_name(func: OpOverload) -> str:
    """The operator's name without namespace and in-place underscore: ``add`` for ``aten.add_.Tensor``."""
    name = schema_of(func).name.partition("::")[2]
    if name.startswith("__i") and name.endswith("__"):
        return "__" + name[3:]
    return name if name.endswith("__") else name.removesuffix("_")


def is_exact(name: str, func: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether every legal implementation gives the same bits for the same float operands."""
    if name in {"index_put", "_index_put_impl", "_unsafe_index_put"}:
        return not (args[3] if len(args) > 3 else kwargs.get("accumulate", False))
    if name == "scatter":
        return "reduce" not in kwargs and not overload_name(func).endswith("reduce")
    if name == "round":
        return overload_name(func) in {"default", "out", ""}
    if name == "arange":
        return all(float(value).is_integer() for value in args if isinstance(value, (int, float)))
    if name == "linalg_vector_norm":
        return len(args) > 1 and isinstance(args[1], (int, float)) and math.isinf(args[1]) and not args[0].is_complex()
    if name in {"abs", "sgn"}:
        return not any(isinstance(value, torch.Tensor) and value.is_complex() for value in args)
    return name in _MOVES or name in _CHOICES or name in FRESH


def may_hide_noise(name: str, args: Sequence[Any], kwargs: dict[str, Any], results: Sequence[torch.Tensor]) -> bool:
    """Whether a kink, a jump or a choice can give the clean result for noisy operands by chance."""
    if name in _CHOICES or name in _STEPPED:
        return True
    if name == "div":
        return kwargs.get("rounding_mode") is not None
    if name in {"_to_copy", "copy"}:
        return any(not result.is_floating_point() and not result.is_complex() for result in results)
    return False


def is_whole(name: str, kwargs: dict[str, Any]) -> bool:
    """Whether it is a division to whole numbers or its remainder, which have one right result for given operands."""
    return name in _WHOLE or (name == "div" and kwargs.get("rounding_mode") is not None)


def is_jump(name: str, kwargs: dict[str, Any]) -> bool:
    """Whether the result either does not change under noise or changes to another whole number."""
    return name in _JUMPS or (name == "div" and kwargs.get("rounding_mode") is not None)


def unit(dtype: torch.dtype) -> float:
    """Half the epsilon; the whole one for float64, in which the shadow itself is computed."""
    eps = torch.finfo(dtype).eps
    return eps if dtype is torch.float64 else eps / 2


def smallest(dtype: torch.dtype) -> float:
    """The absolute noise: the smallest normal, below which results may be flushed to zero; float16 is never flushed."""
    info = torch.finfo(dtype)
    return info.tiny * info.eps if dtype is torch.float16 else info.tiny


def opmath(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which kernels compute: float32 for the half types."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def component(dtype: torch.dtype) -> torch.dtype:
    """The real dtype of a complex dtype's parts; other dtypes as they are."""
    return _PARTS.get(dtype, dtype)


_PARTS = {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}


_EXAMINED = 4096
"""Elements of an operand in which different numbers are counted."""

_REPEATED = 4
"""How often each of few numbers is added at least."""


def adds_narrowly(name: str, args: Sequence[Any]) -> bool:
    """Whether it accumulates in the tensor's own dtype, even where reductions use a wider one."""
    is_transposed_convolution = name == "convolution" and len(args) > _TRANSPOSED and bool(args[_TRANSPOSED])
    return name in _SCATTERS or is_transposed_convolution


def mixes_numbers(name: str) -> bool:
    """Whether rounding errors of a matrix's small numbers are relative to its largest."""
    return name in _FACTORISATIONS


def relative_noise(dtype: torch.dtype, terms: int, *, narrowly: bool) -> float:
    """The relative noise of one operand or result: one rounding, more when ``terms`` numbers are added up."""
    if terms <= 1:
        return unit(dtype)
    adding = dtype if narrowly else opmath(dtype)
    return unit(dtype) + unit(adding) * math.sqrt(terms) / 4


def operand_noise(dtype: torch.dtype, terms: int, *, narrowly: bool) -> float:
    """The relative noise of an operand: the rounding inside of the operator."""
    return relative_noise(dtype if narrowly else opmath(dtype), terms, narrowly=narrowly)


def absolute_noise(name: str, operand: torch.Tensor | None) -> float | torch.Tensor | None:
    """A magnitude, besides the result itself, to which the result's error is relative; None for most operators."""
    if name in _ABSOLUTE:
        return _ABSOLUTE[name]
    if name.startswith(_INTERPOLATIONS) and operand is not None and operand.numel():
        # Weights are computed from coordinates, whose rounding errors grow with the size of the picture.
        return float(operand[0].abs().nan_to_num(0.0, 0.0, 0.0).amax()) * max(operand.shape[3:], default=1)
    if name in _ABSOLUTE_IN_OPERAND and operand is not None:
        return operand.abs()
    return None


def terms_added(
    name: str,
    func: OpOverload,
    args: Sequence[Any],
    operands: Sequence[torch.Tensor],
    results: Sequence[Any],
) -> int:
    """How many numbers one result element is accumulated from; 1 for pointwise operators.

    Where few numbers are added often, its square: each is rounded the same way again, so errors do not cancel.
    """
    if torch.Tag.pointwise in func.tags:
        return 1
    floating = [value for value in operands if value.is_floating_point() or value.is_complex()] or list(operands)
    if not floating:
        return 1
    terms = _terms_added(name, args, floating, results)
    return terms * terms if terms > 1 and _are_few(floating[0], terms) else terms


def _are_few(value: torch.Tensor, terms: int) -> bool:
    """Whether each of the different numbers is added several times on average."""
    some = value.detach().reshape(-1)[:_EXAMINED]
    different = len(torch.view_as_real(some.resolve_conj()).unique(dim=0) if some.is_complex() else some.unique())
    return bool(len(some)) and different <= max(1, min(terms, len(some)) // _REPEATED)


def _terms_added(name: str, args: Sequence[Any], floating: Sequence[torch.Tensor], results: Sequence[Any]) -> int:
    if "convolution" in name or "conv" in name:
        return _convolution_terms(floating, results)
    if name in {
        "mm",
        "bmm",
        "matmul",
        "mv",
        "dot",
        "vdot",
        "addmm",
        "addbmm",
        "baddbmm",
        "addmv",
        "addr",
        "_addmm_activation",
    }:
        left = floating[1] if name.startswith(("add", "badd", "_add")) and len(floating) > 2 else floating[0]
        return max(left.shape[-1] if left.dim() else 1, 1) * (left.shape[0] if name == "addbmm" else 1)
    outputs = [value.numel() for value in results if isinstance(value, torch.Tensor) and value.numel()]
    largest = max(value.numel() for value in floating)
    ratio = largest // max(min(outputs, default=1), 1)
    along = _dimension_length(name, args, floating[0])
    return max(ratio, along, 1)


_ALONG_DIM = _names(
    """_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data cumsum cumprod logcumsumexp softmax
    log_softmax renorm"""
)


def _dimension_length(name: str, args: Sequence[Any], operand: torch.Tensor) -> int:
    if name in _ALONG_DIM:
        dims = [value for value in args[1:] if isinstance(value, int) and not isinstance(value, bool)]
        dim = dims[0] if dims else -1
        return operand.shape[dim] if operand.dim() and -operand.dim() <= dim < operand.dim() else 1
    if name.startswith("_scaled_dot_product") or name == "_cdist_forward":
        return max(operand.shape[-1], operand.shape[-2])
    if name.startswith(("linalg_", "_linalg", "triangular_solve", "cholesky", "_fft")):
        return max(operand.shape, default=1)
    if "layer_norm" in name or "rms_norm" in name:
        shape = next((value for value in args[1:] if isinstance(value, (list, tuple)) and value), [1])
        return math.prod(size for size in shape if isinstance(size, int))
    if "batch_norm" in name:
        return operand.numel() // max(operand.shape[1], 1) if operand.dim() > 1 else 1
    if "group_norm" in name:
        return math.prod(operand.shape[1:])
    return 1


def _convolution_terms(floating: Sequence[torch.Tensor], results: Sequence[Any]) -> int:
    """Forward: the inputs of one weight. Backward: also batch times space, for the gradients of weight and bias."""
    shapes = [value.shape for value in floating if value.dim() >= 2]
    forward = max((math.prod(shape[1:]) for shape in shapes[1:2]), default=1)
    if len([value for value in results if isinstance(value, torch.Tensor)]) < 2:
        return max(forward, 1)
    gradient = floating[0]
    return max(forward, gradient.numel() // max(gradient.shape[1], 1), math.prod(floating[-1].shape[:1]), 1)


def rounds_to_half(operands: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> bool:
    """Whether wider floats are converted to a half type: compiled code may omit that rounding.

    Inductor keeps halves in float32 between operators (``config.emulate_precision_casts``).
    """
    wide = any(value.is_floating_point() and torch.finfo(value.dtype).bits > 16 for value in operands)
    return wide and any(
        component(value.dtype) in HALVES for value in results if value.is_floating_point() or value.is_complex()
    )
