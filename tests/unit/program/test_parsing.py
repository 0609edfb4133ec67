"""Parsing from many threads at once."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from eqfuzz.program.parsing import parse


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
