"""The passes of the program reducer, in one module for each kind of code that they change.

To add one, write a function in the form that ``eqfuzz.triage.reduce.reduction_pass`` shows, and list it in ``PASSES``.
"""

from __future__ import annotations

from eqfuzz.triage.reduce.passes import expressions, extraction, inputs, layout, statements
from eqfuzz.triage.reduce.reduction_pass import ReductionPass

PASSES: tuple[ReductionPass, ...] = (
    statements.drop_unused,
    inputs.fewer_input_sets,
    statements.return_nothing,
    statements.fewer_outputs,
    statements.return_earlier,
    statements.drop_statements,
    inputs.drop_parameters,
    statements.simplify_control_flow,
    statements.inline_helpers,
    statements.fewer_outputs_alone,
    expressions.drop_items,
    expressions.replace_by_operand,
    expressions.simplify_choices,
    expressions.inline_variables,
    expressions.drop_arguments,
    expressions.replace_variables,
    extraction.start_from_parameter,
    extraction.return_part,
    extraction.module_as_function,
    inputs.inline_inputs,
    inputs.plainer_draws,
    inputs.smaller_integers,
    inputs.simpler_literals,
    statements.drop_top_level,
    layout.tidy,
)
"""All passes in their order: what removes most for one question comes first. The reducer repeats them until a whole
round changes nothing."""
