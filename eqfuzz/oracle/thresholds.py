"""Every number that a verdict of the oracle depends on, with its unit, its meaning and where its value comes from.

``docs/reference/oracle.md`` has the same table; ``python -m eqfuzz.oracle.thresholds`` prints it.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TypeVar

_Value = TypeVar("_Value")

_PROTOTYPE = "value of the first prototype"
_TABLES = "chosen with the [recall](#recall) and [precision](#precision) tables"
_DECISION_3 = "[decision 3](../decisions/0003-use-32-noisy-runs-before-reporting.md)"
_DECISION_7 = "[decision 7](../decisions/0007-plant-faults-in-compiled-runs.md)"


def _threshold(default: _Value, unit: str, meaning: str, origin: str) -> _Value:
    return dataclasses.field(default=default, metadata={"unit": unit, "meaning": meaning, "origin": origin})


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """The oracle's thresholds, in the order in which a comparison uses them.

    T is the measured error bound of an element (``LeafReference.bound``), the deviation of a noisy run its distance
    from the clean one.
    """

    samples: tuple[int, ...] = _threshold(
        (8, 12, 32),
        "noisy runs",
        "a difference is judged with a reference of each number of runs in turn, and called wrong by the last",
        f"8 decide nearly every cell, 12 leaves of millions of numbers; with 6, two shipped seeds gave false alarms "
        f"({_DECISION_3})",
    )
    slack: float = _threshold(
        1.0,
        "epsilons of the value",
        "T exceeds the largest deviation of the noisy runs by this",
        "the result itself is rounded once, to either side",
    )
    slack_half: float = _threshold(
        0.25,
        "epsilons of the value",
        "the same in float16 and bfloat16",
        f"their kernels compute in float32 and round once ({_DECISION_7})",
    )
    unstable_relative: float = _threshold(
        1e-2,
        "of the value",
        "an element whose noisy runs differ, and whose T is larger, is unstable: rounding alone can change it much",
        _PROTOTYPE,
    )
    unstable_epsilons: float = _threshold(
        8.0,
        "epsilons of the value",
        "takes the place of `unstable_relative` where it is more, as in bfloat16",
        "three roundings of bfloat16 exceed 1e-2 of the value",
    )
    unstable_floor: float = _threshold(
        100.0,
        "smallest normal numbers of the dtype",
        "T of an unstable element exceeds `unstable_relative` by this",
        "numbers near the smallest normal one may be flushed to zero",
    )
    numpy_bound: float = _threshold(
        1e3,
        "T",
        "an array farther from its reference was written to by numpy, which no shadow follows: it has no reference; "
        "a result of numpy farther from Dynamo's translation is another number, not a rounded one",
        "far beyond rounding",
    )
    bound_factor: float = _threshold(
        4.0,
        "T",
        "a compiled element farther from the reference is wrong",
        f"the largest of a few random deviations is too small now and then ({_DECISION_3})",
    )
    eager_pair_factor_half: float = _threshold(
        8.0,
        "T of both sides",
        "replaces `bound_factor` where two eager runs in float16 or bfloat16 are compared",
        f"{_PROTOTYPE}: eager rounds to the half type after each operator",
    )
    eager_ratio: float = _threshold(
        3.0,
        "times eager's distance from the reference",
        "a compiled element that is not farther from the reference is right",
        "PyTorch closes reports in which compiled code is as accurate (pytorch #143182, #179578)",
    )
    outlier_bound: float = _threshold(
        2.0,
        "T",
        "an outlier farther from the reference is wrong",
        f"what rounds worse than the model does so in several elements of a leaf; {_TABLES}",
    )
    outlier_bound_half: float = _threshold(
        1.3,
        "T",
        "the same in float16 and bfloat16",
        f"correct compiled runs reach 1.1 T, one convolution in 730 leaves 1.95 T ({_DECISION_7})",
    )
    outlier_ratio: float = _threshold(
        2.0,
        "times the next largest distance in units of T, eager's included",
        "an element farther from the reference is an outlier",
        f"3 until the bound of half types was measured; {_TABLES}",
    )
    few_elements: int = _threshold(
        8,
        "judged elements of the leaf",
        "below this `few_elements_extra` is added to the outlier's bound",
        f"few other elements say little about how the leaf rounds; {_TABLES}",
    )
    few_elements_extra: float = _threshold(
        1.0,
        "T",
        "what is added",
        _TABLES,
    )
    unstable_share: float = _threshold(
        0.2,
        "of the elements of the leaf",
        "with more unstable elements, one of them beyond its bound, the verdict is inconclusive",
        _PROTOTYPE,
    )
    unstable_bound: float = _threshold(
        8.0,
        "T",
        "an unstable element farther from the reference is wrong",
        f"twice `bound_factor`; {_TABLES}",
    )
    unstable_bound_large: float = _threshold(
        16.0,
        "T",
        "the same where T is `smooth_ratio` of the value or more",
        f"errors so large no longer grow in proportion to the noise; {_TABLES}",
    )
    smooth_ratio: float = _threshold(
        0.1,
        "of the value",
        "T from which `unstable_bound_large` applies",
        _TABLES,
    )
    kink_reach: float = _threshold(
        2.0,
        "largest deviations",
        "operands of a kink or a choice, and Python numbers in a comparison, are moved this far both ways",
        "8 noisy runs lie on one side of a kink one time in 128",
    )
    jump_reach: float = _threshold(
        4.0,
        "largest deviations",
        "the same for operands of a jump such as `floor`, whose result must lie between those of the noisy runs",
        "`bound_factor`, by which other results may deviate",
    )
    hidden_ratio: float = _threshold(
        4.0,
        "largest deviations",
        "a result of moved operands that is farther away replaces those of two noisy runs; after a jump, 1",
        "`bound_factor`, within which it is allowed anyhow",
    )
    slow_ratio: float = _threshold(
        2.0,
        "times the original's seconds",
        "a compiled variant that is steadily slower is reported (`--check speed`)",
        "not measured; noise of more than this raises it (`Timing.is_slow`)",
    )

    def bound_slack(self, *, half: bool) -> float:
        """How many epsilons of the value T has beyond the deviations."""
        return self.slack_half if half else self.slack

    def least_outlier(self, elements: int, *, half: bool) -> float:
        """The least distance, in T, of an outlier among ``elements`` judged elements."""
        bound = self.outlier_bound_half if half else self.outlier_bound
        return bound if elements >= self.few_elements else bound + self.few_elements_extra


THRESHOLDS = Thresholds()


def as_table() -> str:
    """The thresholds as a Markdown table."""
    rows = ["| threshold | value | unit | meaning | why this value |", "|---|--:|---|---|---|"]
    for field in dataclasses.fields(Thresholds):
        value, notes = field.default, field.metadata
        number = ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}"
        rows.append(f"| `{field.name}` | {number} | {notes['unit']} | {notes['meaning']} | {notes['origin']} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(f"{as_table()}\n")
