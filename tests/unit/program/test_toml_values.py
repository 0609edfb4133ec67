import datetime
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.program.toml_values import toml_value

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", '"plain"'),
        ("it's", '"it\'s"'),
        (r"\d+ differ", r"'\d+ differ'"),
        (r"\d's", r'"\\d\'s"'.replace(r"\'", "'")),
        ("two\nlines", r'"two\nlines"'),
        (True, "true"),
        (3, "3"),
        (60.0, "60.0"),
        (("a", "b"), '["a", "b"]'),
        ((), "[]"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
    ],
)
def test_value_is_written_on_one_line(value, written):
    assert toml_value(value) == written


@given(texts | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.lists(texts))
def test_value_is_read_back(value):
    assert tomllib.loads(f"key = {toml_value(value)}") == {"key": value}
