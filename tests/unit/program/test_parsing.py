"""Parsing from many threads at once."""

from concurrent.futures import ThreadPoolExecutor

from eqfuzz.program.parsing import parse


def test_threads_do_not_disturb_each_other() -> None:
    source = "x = " + "f(" * 60 + "1" + ")" * 60 + "\n"
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(parse, [source] * 400))
    assert len(trees) == 400
