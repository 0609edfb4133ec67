"""Parsing from many threads at once."""

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from eqfuzz.program.parsing import parse, parse_expression


@pytest.fixture
def switching():
    """Threads change places whenever garbage is collected, which Python does inside of ``ast.parse`` too."""

    def switch(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    threshold = gc.get_threshold()
    gc.callbacks.append(switch)
    gc.set_threshold(20)
    yield
    gc.set_threshold(*threshold)
    gc.callbacks.remove(switch)


def test_threads_do_not_disturb_each_other(switching) -> None:
    source = "\n".join(f"x{number} = " + "f(" * number + "1" + ")" * number for number in range(40))
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(parse, [source] * 40))
    assert len(trees) == 40


def test_expression_is_parsed_without_its_module():
    assert isinstance(parse_expression("f(x)"), ast.Call)


@pytest.mark.parametrize("source", ["x = 1", "", "f("])
def test_source_that_is_no_expression_is_refused(source):
    with pytest.raises(SyntaxError):
        parse_expression(source)
