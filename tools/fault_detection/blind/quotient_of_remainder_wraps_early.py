"""An index ``(i % m) // d`` is taken for ``(i // d) % (m // d)`` even where ``d`` does not divide ``m``.

Modelled on https://github.com/pytorch/pytorch/pull/102068: an index expression of the generated code did not agree with
Python's integer arithmetic; swapping a remainder and a quotient is right only for a multiple.
"""

import sympy
import torch
from torch._inductor import sizevars
from torch._inductor.sizevars import SizeVarAllocator
from torch.utils._sympy.functions import FloorDiv, ModularIndexing, safe_gcd
from torch.utils._sympy.value_ranges import ValueRanges

KIND = "symbolic-shapes"
REACHED_BY = "rewrite"


def plant():
    def _simplify_with_ranges(self, expr, var_ranges):
        expr = sizevars.join_dimensions(self.simplify(expr))
        original_expr = expr
        unbounded = sizevars.IntInfinity()

        var_to_range = dict(self.shape_env.var_to_range)
        for var, size in var_ranges.items():
            var_to_range[var] = ValueRanges(0, unbounded if sizevars.has_free_symbols([size]) else max(0, size - 1))
        for var in expr.free_symbols:
            if var not in var_to_range:
                var_to_range[var] = ValueRanges(0, unbounded)
        ranges = tuple(var_to_range.items())
        axioms = []
        for var, upper_bound in var_ranges.items():
            axioms.append(var >= 0)
            axioms.append(var < upper_bound)
        axioms = tuple(axioms) + self.shape_env.get_axioms()

        def statically_known(condition):
            return bool(self.shape_env._maybe_evaluate_static(condition, axioms=axioms, var_to_range=ranges))

        def remove_zero_terms(base, divisor):
            if not statically_known(base >= 0):
                return base
            for v in base.free_symbols:
                if v in var_ranges:
                    rest = sympy.Wild("_rest", exclude=[v])
                    m = base.match(v + rest)
                    if m and v not in m[rest].free_symbols and statically_known(v < safe_gcd(m[rest], divisor)):
                        base = m[rest]
            return base

        def visit_indexing_div(base, divisor):
            base = remove_zero_terms(base, divisor)
            if statically_known(base >= 0) and statically_known(base < divisor):
                return sympy.S.Zero
            if isinstance(base, ModularIndexing) and isinstance(divisor, sympy.Integer):
                b, d1, m = base.args
                return ModularIndexing(b, d1 * divisor, FloorDiv(m, divisor))
            return FloorDiv(base, divisor)

        def visit_modular_indexing(base, divisor, modulus):
            base = remove_zero_terms(base, divisor)
            if isinstance(base, ModularIndexing):
                inner_base, inner_divisor, inner_modulus = base.args
                constants = (inner_modulus, divisor, modulus)
                are_constant = all(isinstance(value, sympy.Integer) and value > 0 for value in constants)
                if are_constant and self.statically_known_multiple_of(inner_modulus, divisor * modulus):
                    return ModularIndexing(inner_base, inner_divisor * divisor, modulus)
            if statically_known(base >= 0) and statically_known(base < modulus * divisor):
                return FloorDiv(base, divisor)
            return ModularIndexing(base, divisor, modulus)

        base, divisor, modulus = (sympy.Wild(name, integer=True) for name in ("base", "divisor", "modulus"))
        if expr.has(ModularIndexing):
            expr = expr.replace(ModularIndexing(base, divisor, modulus), visit_modular_indexing)
        if expr.has(FloorDiv):
            expr = expr.replace(FloorDiv(base, divisor), visit_indexing_div)
        if expr != original_expr:
            return self._simplify_with_ranges(expr, var_ranges)
        return expr

    SizeVarAllocator._simplify_with_ranges = _simplify_with_ranges


def witness():
    def program(x):
        each = x.unsqueeze(1).expand(3, 4).reshape(12)
        return each[:10].repeat(2) + 1

    return program, [(torch.tensor([1.0, 20.0, 300.0]),)]


plant()
