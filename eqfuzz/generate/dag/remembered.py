"""Structures with Python state that outlives a call: counters and lists in globals, closures, defaults and objects."""

from __future__ import annotations

import dataclasses

from eqfuzz.generate.dag.build import Builder
from eqfuzz.generate.dag.graph.graph import Effect, Expr, Value
from eqfuzz.generate.dag.structure import bounded, structure
from eqfuzz.generate.dag.values.spec import FLOATS, SIGNED, Range, Spec, UnsatisfiableSpec

_FAMILY = "remembered state"


@dataclasses.dataclass(frozen=True)
class RememberedState:
    """Lines that define a global ``name``, statements that change it, and expressions of ``{0}`` that read it.

    ``scaled``: the value is multiplied by at most this; ``added``: at most this is added.
    """

    name: str
    lines: tuple[str, ...]
    changes: tuple[str, ...]
    reads: tuple[str, ...]
    scaled: int = 1
    added: int = 0


_STATES = (
    RememberedState(
        "COUNTS",
        ('COUNTS = {"calls": 0, "rows": 1}',),
        ('COUNTS["calls"] += 1', 'COUNTS["calls"] = COUNTS["calls"] + 2', 'COUNTS.update(calls=COUNTS["calls"] + 1)'),
        ('{0} + COUNTS["calls"] % 4', '{0} * (COUNTS["calls"] % 3)', '{0} - min(COUNTS["calls"], 3)'),
        3,
        4,
    ),
    RememberedState(
        "HISTORY",
        ("HISTORY = [0]",),
        ("HISTORY.append(len(HISTORY) % 3)", "HISTORY[0] += 1", "HISTORY.insert(0, HISTORY[-1] + 1)"),
        ("{0} + HISTORY[0] % 4", "{0} * (len(HISTORY) % 3)", "{0} + max(HISTORY) % 4", "{0} - sum(HISTORY[-2:]) % 3"),
        3,
        4,
    ),
    RememberedState(
        "TALLY",
        (
            "import dataclasses",
            "@dataclasses.dataclass",
            "class Tally:",
            "    calls: int = 0",
            "    sizes: list = dataclasses.field(default_factory=list)",
            "",
            "    def seen(self):",
            "        return self.calls % 3 + len(self.sizes) % 2",
            "",
            "",
            "TALLY = Tally()",
        ),
        ("TALLY.calls += 1", "TALLY.sizes.append(TALLY.calls)", "TALLY.calls = TALLY.calls * 2 + 1"),
        ("{0} + TALLY.calls % 4", "{0} * TALLY.seen()", "{0} * (len(TALLY.sizes) % 3)"),
        3,
        4,
    ),
    RememberedState(
        "METER",
        (
            "class Meter:",
            "    calls = 0",
            "",
            "    def __init__(self):",
            "        self.last = 1",
            "",
            "    def __call__(self, value):",
            "        Meter.calls += 1",
            "        self.last = Meter.calls % 3",
            "        return value * self.last",
            "",
            "",
            "METER = Meter()",
        ),
        ("METER.last = METER.last % 2 + 1", "type(METER).calls = METER.calls + 2"),
        ("METER({0})", "{0} + METER.last", "METER({0}) + METER.calls % 2"),
        3,
        4,
    ),
    RememberedState(
        "with_default",
        (
            "def with_default(value, seen=[0]):",
            "    seen.append(seen[-1] + 1)",
            "    return value + seen[-1] % 4",
        ),
        (),
        ("with_default({0})", "with_default(with_default({0}) * 2)"),
        2,
        12,
    ),
    RememberedState(
        "keyword_default",
        (
            'def keyword_default(value, *, options={"calls": 0}):',
            '    options["calls"] += 1',
            '    return value * (options["calls"] % 3)',
        ),
        (),
        ("keyword_default({0})", 'keyword_default({0}, options={"calls": 1})'),
        3,
        0,
    ),
    RememberedState(
        "STEP",
        (
            "def counting(start):",
            "    count = start",
            "",
            "    def step(value):",
            "        nonlocal count",
            "        count += 1",
            "        return value + count % 4",
            "",
            "    return step",
            "",
            "",
            "STEP = counting(2)",
        ),
        (),
        ("STEP({0})", "STEP({0}) + STEP({0} * 0)"),
        1,
        8,
    ),
    RememberedState(
        "counted",
        (
            "CALLS = 0",
            "",
            "",
            "def counted(value):",
            "    global CALLS",
            "    CALLS += 1",
            "    return value * 2 if CALLS % 2 else value + CALLS % 3",
        ),
        (),
        ("counted({0})", "counted({0} + 1)"),
        2,
        4,
    ),
)


@structure("remembered state", dtypes=FLOATS + SIGNED, family=_FAMILY, exact=True)
def remembered_state(builder: Builder, spec: Spec, depth: int) -> Value:
    """A counter or a list that each call changes and uses."""
    draw = builder.draw
    state = draw.choice(_STATES)
    value = builder.produce(bounded(spec), depth - 1)
    builder.define(state.name, state.lines)
    changes = [draw.choice(state.changes)] if state.changes and draw.chance(0.85) else []
    for change in changes:
        builder.block.statements.append(Effect(Expr(change, operator="remembered state")))
    text = draw.choice(state.reads)
    whole = Range(-state.scaled, state.scaled, exact=True)
    range_ = value.range * whole + Range(-state.added, state.added, exact=True)
    result = builder.emit(Expr(text, (value,), operator="remembered state"), spec.free(), range_, needs_variable=True)
    if state.changes and draw.chance(0.3):
        builder.block.statements.append(Effect(Expr(draw.choice(state.changes), operator="remembered state")))
    return result


@structure("remembered tensor", dtypes=FLOATS + SIGNED, rank=(0, 3), family=_FAMILY, exact=True, weight=0.5)
def remembered_tensor(builder: Builder, spec: Spec, depth: int) -> Value:
    """The tensor of the previous call, or of the last two, held in a list or a dict."""
    _require_fixed_size(spec)
    value = builder.produce(bounded(spec), depth - 1)
    name = f"PREVIOUS{len(builder.definitions) + 1}"
    both = (value.range + value.range).over(value.range)
    appended = builder.draw.chance(0.5)
    if appended:
        builder.define(name, (f"{name} = []",))
        change = f"{name}.append({{0}}.detach().clone())"
        reads = (f"sum({name}[-2:])", f"{name}[-1] + {name}[0]", f"torch.stack({name}[-2:]).amax(0)")
    else:
        builder.define(name, (f"{name} = {{}}",))
        change = f'{name}["last"] = {{0}}.detach().clone()'
        reads = (f'{{0}} + {name}.get("last", 0)', f'{{0}} + {name}["last"] if {name} else {{0}} * 2')
    effect = Effect(Expr(change, (value,), operator="remembered tensor"))
    expr = Expr(builder.draw.choice(reads), (value,), operator="remembered tensor")
    if appended:
        builder.block.statements.append(effect)
    result = builder.emit(expr, spec.free(), both, needs_variable=True)
    if not appended:
        builder.block.statements.append(effect)
    return result


def _require_fixed_size(spec: Spec) -> None:
    """Raises UnsatisfiableSpec for a size that differs between calls."""
    if not spec.is_static:
        raise UnsatisfiableSpec("a size that changes")
