"""Former names of shipped rules: selections and derivations that were written down with them still work."""

from __future__ import annotations

from functools import cache

FORMER_NAMES = {
    "algebra/binary_logarithm": "algebra/log2_to_log",
    "algebra/both_where": "algebra/value_to_where",
    "algebra/ceiling_by_floor": "algebra/ceil_to_floor",
    "algebra/distribution": "algebra/product_of_sum_to_sum",
    "algebra/fraction": "algebra/frac_to_trunc",
    "algebra/hypotenuse": "algebra/root_of_squares_to_hypot",
    "algebra/integer_distribution": "algebra/integer_product_of_sum_to_sum",
    "algebra/interpolation": "algebra/sum_to_lerp",
    "algebra/reciprocal_root": "algebra/reciprocal_of_sqrt_to_rsqrt",
    "barriers/either_way": "barriers/expression_to_choice_by_is_compiling",
    "dead-branches/loop_without_turns": "dead-branches/loop_without_iterations",
    "elementary-functions/binary_exponential": "elementary-functions/exp2_to_power",
    "elementary-functions/complementary_error_function": "elementary-functions/erfc_to_erf",
    "elementary-functions/decimal_logarithm": "elementary-functions/log10_to_log",
    "elementary-functions/exponential_less_one": "elementary-functions/expm1_to_exp",
    "elementary-functions/hyperbolic_cosine": "elementary-functions/cosh_to_exp",
    "elementary-functions/hyperbolic_sine": "elementary-functions/sinh_to_exp",
    "elementary-functions/hyperbolic_tangent": "elementary-functions/tanh_to_sinh_and_cosh",
    "elementary-functions/log_odds": "elementary-functions/logit_to_log",
    "elementary-functions/logarithm_of_one_more": "elementary-functions/log1p_to_log",
    "elementary-functions/one_over": "elementary-functions/one_over_x_to_reciprocal",
    "elementary-functions/tangent": "elementary-functions/tan_to_sin_and_cos",
    "higher-order/choice_to_cond": "conditions/choice_to_cond",
    "higher-order/loop_to_while_loop": "loops/loop_to_while_loop",
    "iteration/turns_in_reverse": "iteration/reverse_iterations",
    "jumps/loop_broken_off": "jumps/statement_to_loop_with_break",
    "jumps/loop_of_one_turn": "jumps/statement_to_single_loop",
    "linear-algebra/matmul_is_mm": "linear-algebra/matmul_to_mm",
    "made-in-place/calls_in_a_sequential": "containers/calls_in_a_sequential",
    "outlining/outlined_rest": "statements/outlined_rest",
    "outlining/outlined_statements": "statements/outlined_statements",
    "packing/appended_and_popped": "packing/operands_to_popped_list",
    "packing/attributes_set": "packing/operands_to_attributes",
    "packing/chained_iterables": "packing/operands_to_chained_iterables",
    "packing/dataclass_fields": "packing/operands_to_dataclass",
    "packing/deque_ends": "packing/operands_to_deque",
    "packing/dict_comprehension": "packing/operands_to_dict_comprehension",
    "packing/mapped_over_lists": "packing/operation_to_map",
    "packing/named_tuple_fields": "packing/operands_to_named_tuple",
    "packing/next_of_an_iterator": "packing/operands_to_iterator",
    "packing/packed_in_a_dict": "packing/operands_to_dict",
    "packing/packed_in_a_tuple": "packing/operands_to_tuple",
    "packing/property_of_a_class": "packing/operation_to_property",
    "packing/reduced_over_a_list": "packing/operation_to_reduce",
    "packing/reversed_pair": "packing/operands_to_reversed_pair",
    "packing/simple_namespace": "packing/operands_to_namespace",
    "packing/slots": "packing/operands_to_slots",
    "packing/sorted_keys": "packing/operands_to_sorted_dict",
    "packing/swapped_variables": "packing/operands_to_swapped_variables",
    "packing/unpacked_from_a_tuple": "packing/operands_to_unpacked_tuple",
    "packing/unpacked_with_a_star": "packing/operands_to_starred_target",
    "packing/wrapped_operands": "packing/operands_to_wrapper_objects",
    "pairs/pairs_by_number": "comprehensions/pairs_by_number",
    "unrolling/display_unrolled": "unrolling/unroll_listed_items",
    "unrolling/first_turn_peeled": "unrolling/peel_first_iteration",
    "unrolling/items_unrolled": "unrolling/unroll_items",
    "unrolling/last_turn_peeled": "unrolling/peel_last_iteration",
    "unrolling/loop_split": "unrolling/split_loop",
    "unrolling/loop_tiled": "unrolling/tile_loop",
    "unrolling/nested_loops_flattened": "unrolling/flatten_nested_loops",
    "unrolling/statements_rolled": "unrolling/statements_to_loop",
    "unrolling/unrolled": "unrolling/unroll_loop",
    "unrolling/unrolled_by_two": "unrolling/unroll_loop_by_two",
    "unrolling/unrolled_with_literals": "unrolling/unroll_loop_with_literals",
}
"""Former name → present name. The rule ``…_back`` of a rule that goes both ways is renamed with it."""

_BACK = "_back"


def present_name(name: str) -> str:
    """The name that the rule called ``name`` has now, which may be the same."""
    base = name.removesuffix(_BACK)
    if name in FORMER_NAMES or base not in FORMER_NAMES:
        return FORMER_NAMES.get(name, name)
    return FORMER_NAMES[base] + _BACK


def former_names(name: str) -> tuple[str, ...]:
    """All names that the rule called ``name`` had before."""
    base = name.removesuffix(_BACK)
    backwards = tuple(former + _BACK for former in _by_present_name().get(base, ())) if base != name else ()
    return (*_by_present_name().get(name, ()), *backwards)


@cache
def _by_present_name() -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for former, present in FORMER_NAMES.items():
        names[present] = (*names.get(present, ()), former)
    return names
