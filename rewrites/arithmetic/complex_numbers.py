"""Complex numbers by their parts, conjugates, Fourier transforms."""

import math

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    away_from_zero,
    complex_,
    dtype_in,
    moderate,
    same_dtype,
    unmutated,
    when,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, non_empty, same_shape, sizes
from eqfuzz.rewrite.rules.rule import rule


def tame(*names):
    """No infinity and no NaN in complex operands, whose size facts do not know."""
    return when("finite", lambda *facts: not any(f.has_nan or f.has_inf for f in facts), *names)


@rule(exact="real", where=[complex_("x", "y"), same_dtype("x", "y"), tame("x", "y", "result"), contiguous("x", "y")])
def product_by_parts(x, y):
    """``(a + bi)(c + di)`` is ``(ac - bd) + (ad + bc)i``."""
    return x * y, torch.complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


@rule(exact="ulp", where=[complex_("x", "y"), same_dtype("x", "y"), tame("x", "y"), contiguous("x", "y")])
def sum_by_parts(x, y):
    """``x + y`` adds real and imaginary parts."""
    return x + y, torch.complex(x.real + y.real, x.imag + y.imag)


@rule(exact="ulp", where=[complex_("x", "y"), same_dtype("x", "y"), tame("x", "y"), contiguous("x", "y")])
def difference_by_parts(x, y):
    """``x - y`` subtracts real and imaginary parts."""
    return x - y, torch.complex(x.real - y.real, x.imag - y.imag)


@rule(exact="bitwise", where=[complex_("x"), unmutated("x", "result"), contiguous("x")])
def real_part_of_pairs(x):
    """``x.real`` is the first of each pair of reals; a copy where conjugation is pending."""
    return x.real, torch.view_as_real(x.resolve_conj())[..., 0]


@rule(exact="bitwise", where=[complex_("x"), unmutated("x", "result"), contiguous("x")])
def imaginary_part_of_pairs(x):
    """``x.imag`` is the second of each pair of reals."""
    return x.imag, torch.view_as_real(x.resolve_conj())[..., 1]


@rule(exact="bitwise", where=[complex_("x")], both_ways=True)
def real_attribute(x):
    """``x.real`` is ``torch.real(x)``."""
    return x.real, torch.real(x)


@rule(exact="bitwise", where=[complex_("x")], both_ways=True)
def imaginary_attribute(x):
    """``x.imag`` is ``torch.imag(x)``."""
    return x.imag, torch.imag(x)


@rule(exact="ulp", where=[complex_("x"), tame("x"), away_from_zero("result", 1e-3)])
def modulus_by_parts(x):
    """``abs(x)`` is the hypotenuse of its parts."""
    return torch.abs(x), torch.hypot(x.real, x.imag)


@rule(exact="bitwise", where=[complex_("x")])
def conjugate_twice(x):
    """``x`` is ``x.conj().conj()``; both are lazy views."""
    return x, x.conj().conj()


@rule(exact="bitwise", where=[complex_("x"), contiguous("x"), unmutated("x")])
def parts_and_together(x):
    """``x`` is made of its real and imaginary parts."""
    return x, torch.complex(x.real, x.imag)


@rule(exact="bitwise", where=[complex_("x"), contiguous("x"), unmutated("x")])
def pairs_and_together(x):
    """``x`` is made of its pairs of reals."""
    return x, torch.view_as_complex(torch.stack((x.real, x.imag), -1))


@rule(exact="bitwise", where=[complex_("x"), unmutated("x", "result"), contiguous("x")])
def conjugate_at_once(x):
    """``x.conj()`` is lazy, ``conj_physical`` is not."""
    return x.conj(), torch.conj_physical(x)


@rule(exact="bitwise", where=[complex_("x"), unmutated("x", "result"), contiguous("x")])
def conjugate_by_parts(x):
    """``x.conj()`` negates the imaginary part."""
    return x.conj(), torch.complex(x.real, -x.imag)


@rule(exact="ulp", where=[complex_("x"), tame("x"), contiguous("x")], gradients=False)
def angle_by_parts(x):
    """``angle(x)`` is the arc tangent of its parts; at 0 it has no gradient."""
    return torch.angle(x), torch.atan2(x.imag, x.real)


@rule(
    exact="ulp",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        same_dtype("x", "y"),
        same_shape("x", "y"),
        at_least("x", 0.01),
        moderate("x", "y"),
        contiguous("x", "y"),
    ],
)
def polar_by_parts(x, y):
    """``polar(x, y)`` is ``x cos(y) + x sin(y) i``; below 0 autograd of ``polar`` has the other sign."""
    return torch.polar(x, y), torch.complex(x * torch.cos(y), x * torch.sin(y))


@rule(exact="real", where=[complex_("x"), at_least_rank("x", 1), non_empty("x"), tame("x", "result"), contiguous("x")])
def transform_by_inverse(x):
    """A Fourier transform is the conjugated inverse transform of the conjugate, times the size."""
    return torch.fft.fft(x), torch.fft.ifft(x.conj()).conj() * x.shape[-1]


@rule(
    exact="real",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        at_least_rank("x", 1),
        non_empty("x"),
        moderate("x"),
        contiguous("x"),
    ],
    layout=True,
)
def real_transform_is_half(x):
    """The real transform is the first half of the complex one."""
    return torch.fft.rfft(x), torch.fft.fft(x)[..., : x.shape[-1] // 2 + 1]


@rule(
    exact="ulp",
    where=[
        complex_("x"),
        tame("x"),
        contiguous("x"),
        away_from_zero("result", 1e-3),
        moderate("result", bound=1e6),
    ],
)
def modulus_by_squares(x):
    """``abs(x)`` is the root of the sum of the squared parts."""
    return torch.abs(x), torch.sqrt(x.real**2 + x.imag**2)


@rule(exact="bitwise", where=[complex_("x"), unmutated("x", "result"), contiguous("x")])
def conjugate_resolved(x):
    """``x.conj()`` is lazy; here it is written out at once."""
    return x.conj(), x.conj().resolve_conj()


@rule(exact="bitwise", where=[complex_("x"), contiguous("x")])
def physical_conjugate_by_parts(x):
    """``conj_physical(x)`` negates the imaginary part."""
    return torch.conj_physical(x), torch.complex(x.real, -x.imag)


@rule(
    exact="ulp",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        same_dtype("x", "y"),
        moderate("x", "y"),
        contiguous("x", "y"),
    ],
    layout=True,
)
def real_product_in_complex(x, y):
    """``x * y`` is the real part of a complex product, save the sign of zero."""
    return x * y, (torch.complex(x, torch.zeros_like(x)) * torch.complex(y, torch.zeros_like(y))).real


@rule(
    exact="real",
    where=[
        complex_("x"),
        at_least_rank("x", 1),
        non_empty("x"),
        tame("x"),
        contiguous("x"),
        unmutated("x"),
    ],
)
def transform_and_back(x):
    """``x`` is the inverse Fourier transform of its Fourier transform."""
    return x, torch.fft.ifft(torch.fft.fft(x))


@rule(
    exact="real",
    where=[
        complex_("x"),
        at_least_rank("x", 1),
        non_empty("x"),
        tame("x", "result"),
        when("at most 64 points", lambda x: x.shape[-1] <= 64, "x"),
        contiguous("x"),
    ],
)
def transform_by_matrix(x):
    """A Fourier transform is a product with the matrix of roots of one, computed in float64."""
    return (
        torch.fft.fft(x),
        x
        @ torch.exp(
            -2j
            * math.pi
            / x.shape[-1]
            * torch.outer(
                torch.arange(x.shape[-1], dtype=torch.float64, device=x.device),
                torch.arange(x.shape[-1], dtype=torch.float64, device=x.device),
            )
        ).to(x.dtype),
    )


@rule(
    exact="real",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        same_dtype("x", "w"),
        sizes(x="b 1 n", w="1 1 k"),
        non_empty("x", "w"),
        moderate("x", "w", bound=30),
        contiguous("x", "w"),
    ],
)
def convolution_by_transform(x, w):
    """A convolution of one channel is a product of Fourier transforms, where that has not wrapped round."""
    return (
        F.conv1d(x, w),
        torch.fft.irfft(
            torch.fft.rfft(x, x.shape[2]) * torch.fft.rfft(w.flip(2), x.shape[2]),
            x.shape[2],
        )[..., w.shape[2] - 1 :].contiguous(),
    )
