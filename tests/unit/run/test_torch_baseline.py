"""Torch's statements: which of them lines belong to, and how many there are below a folder."""

from __future__ import annotations

import json

import pytest

from eqfuzz.run.coverage.torch_baseline import TorchBaseline, _parsed, count, from_hex, merge

SOURCE = """\
x = 1
y = f(
    x,
    2,
)
def f(a):
    "documented"
    return a
"""


def bits(*lines: int) -> int:
    return sum(1 << line for line in lines)


def baseline_of(text, path, name="nn/some.py"):
    file = path / "some.py"
    file.write_text(text)
    parsed = _parsed(file)
    assert parsed is not None
    statements, first_lines = parsed
    return TorchBaseline(
        versions={"torch": "2.15.0"},
        statements={name: statements, "other.py": bits(1, 2)},
        first_lines={name: first_lines},
        imported={name: bits(1)},
        started={},
    )


def test_statements_are_those_of_coverage_py(tmp_path):
    baseline = baseline_of(SOURCE, tmp_path)
    assert baseline.statements["nn/some.py"] == bits(1, 2, 6, 8)
    assert baseline.total == 6


def test_any_line_of_a_statement_counts_for_it(tmp_path):
    baseline = baseline_of(SOURCE, tmp_path)
    assert baseline.statements_in({"nn/some.py": bits(4)}) == {"nn/some.py": bits(2)}
    assert baseline.statements_in({"nn/some.py": bits(2, 3, 7, 8)}) == {"nn/some.py": bits(2, 8)}
    assert baseline.statements_in({"elsewhere.py": bits(1)}) == {}


def test_file_of_a_later_python_is_left_out(tmp_path):
    file = tmp_path / "later.py"
    file.write_text("def f[T](x: T) -> T:\n    ret@@rn x\n")
    assert _parsed(file) is None


def test_merge_returns_what_is_new():
    into = {"a.py": bits(1, 2)}
    assert merge(into, {"a.py": bits(2, 3), "b.py": bits(7), "c.py": 0}) == {"a.py": bits(3), "b.py": bits(7)}
    assert into == {"a.py": bits(1, 2, 3), "b.py": bits(7)}
    assert merge(into, {"a.py": bits(1)}) == {}


def test_count_is_of_files_below_folders():
    bitmaps = {"_dynamo/a.py": bits(1, 2), "_dynamo_other/a.py": bits(1), "a.py": bits(5)}
    assert count(bitmaps) == 4
    assert count(bitmaps, ["_dynamo", "_inductor"]) == 2


def test_round_trip_through_json(tmp_path):
    baseline = baseline_of(SOURCE, tmp_path)
    assert TorchBaseline.from_json(json.loads(json.dumps(baseline.to_json()))) == baseline
    with pytest.raises(ValueError, match="invalid literal"):
        from_hex({"a.py": "no"})
