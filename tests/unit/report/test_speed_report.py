"""The report of ``eqfuzz speed``: numbers also where nothing is slow, one line for what is."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from eqfuzz.events.speed import SeedTimed, SpeedStarted, SpeedSummary, TimedProgram
from eqfuzz.oracle.compare.speed import Interval
from eqfuzz.report.machine.json_lines import to_line
from eqfuzz.report.verbs.speed import SpeedReport, interval_in_words, write_chart

STARTED = SpeedStarted(
    seed=0,
    seeds=2,
    strategy="all",
    rules=10,
    config="inductor",
    seconds=1.0,
    out="out",
    versions={"eqfuzz": "0.1.0", "torch": "2.15.0", "python": "3.11.7"},
)
SLOW = "the compiled variant takes 3 ms per call"


def interval(median: float) -> Interval:
    return Interval(median, 0.98 * median, 1.05 * median)


def program(variant: int, eager: float, compiled: float, slow: str = "") -> TimedProgram:
    return TimedProgram(
        variant=variant,
        rules=["operators/add"] if variant else [],
        eager=interval(2e-5 * eager),
        compiled=interval(1e-5 * compiled),
        eager_ratio=interval(eager),
        compiled_ratio=interval(compiled),
        slow=slow,
    )


def timed(path: str, *ratios: float, slow: str = "") -> SeedTimed:
    variants = [program(n, 1.5, ratio, slow) for n, ratio in enumerate(ratios, 1)]
    return SeedTimed(index=0, path=path, programs=[program(0, 1.0, 1.0), *variants], rounds=60)


def summary(**changes) -> SpeedSummary:
    ratios = {"eager_ratios": [1.5, 1.2], "compiled_ratios": [1.0, 1.02]}
    counts = {"seeds": 2, "timed": 2, "slow": 0, "interrupted": False, "out_of_time": False, "seconds": 9.0}
    return SpeedSummary(**{**ratios, **counts, **changes})


def report_of(*events, width: int = 80, quiet: bool = False) -> str:
    stream = io.StringIO()
    with SpeedReport(Console(file=stream, width=width, highlight=False), quiet=quiet) as report:
        for event in events:
            report.handle(event)
    return stream.getvalue()


def test_numbers_are_shown_where_nothing_is_slow():
    text = report_of(STARTED, timed("seeds/a.py", 1.0), summary())
    assert "seeds/a.py  60 rounds" in text
    assert "  eager    20 µs [19.6, 21]" in text
    assert "  compiled 10 µs [9.8, 10.5]" in text
    assert "1.50 [1.47, 1.58]" in text
    assert "compiled median 1.01, from 1.00 to 1.02" in text
    assert "0 slow  ·  2 of 2 seeds timed" in text
    assert "95 % confidence interval by the sign test" in text
    assert max(map(len, text.splitlines())) <= 88


def test_columns_are_below_their_heads():
    lines = report_of(STARTED, timed("seeds/a.py", 1.0), summary()).splitlines()
    [head] = [line for line in lines if "transformed ÷ original" in line and "original  " in line]
    [row] = [line for line in lines if line.startswith("  eager    20")]
    assert head.index("original") == row.index("20 µs")
    assert head.index("transformed") == row.index("30 µs")
    assert head.index("transformed ÷") == row.index("1.50 [")


def test_slow_variant_is_one_line_also_when_quiet():
    long = "seeds/" + "long/" * 30 + "a.py"
    for quiet in (False, True):
        lines = report_of(STARTED, timed(long, 3.0, slow=SLOW), summary(slow=1), quiet=quiet).splitlines()
        assert f"slow {long}: operators/add, inductor: {SLOW}" in lines
        assert any(line.startswith("1 slow") for line in lines)
    assert len(lines) == 2


def test_what_could_not_be_timed_is_stated_with_its_reason():
    failed = TimedProgram(variant=1, rules=["operators/add"], problem="compiled it raises LoweringException: no")
    seed = timed("seeds/a.py")
    seed = SeedTimed(index=0, path="seeds/a.py", programs=[*seed.programs, failed], rounds=7)
    invalid = SeedTimed(index=1, path="seeds/b.py", programs=[], rounds=0, problem="raises in eager: ValueError: no")
    text = report_of(STARTED, seed, invalid, summary())
    assert "not timed: compiled it raises LoweringException: no" in text
    assert "seeds/b.py\n  not timed: raises in eager: ValueError: no" in text


def test_seed_without_a_variant_shows_the_original():
    text = report_of(STARTED, timed("seeds/a.py"), summary(eager_ratios=[], compiled_ratios=[]))
    assert "no rewrite applies" in text
    assert "eager    20 µs" in text


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.0, "2 s [1.96, 2.1]"), (5e-4, "500 µs [490, 525]"), (7e-9, "7 ns [6.86, 7.35]")]
)
def test_interval_is_in_the_unit_of_its_median(seconds, words):
    assert interval_in_words(interval(seconds)) == words


def test_chart_has_a_row_for_each_seed_without_their_common_folder(tmp_path):
    seeds = [timed("seeds/one/a.py", 1.0), timed("seeds/two/b.py", 1.0, 1.1)]
    assert write_chart(tmp_path / "speed.svg", STARTED, seeds)
    text = (tmp_path / "speed.svg").read_text()
    for label in (">one/a.py<", ">two/b.py #1<", ">two/b.py #2<"):
        assert label in text
    assert not write_chart(tmp_path / "none.svg", STARTED, [SeedTimed(index=0, path="c", programs=[], rounds=0)])
    assert not (tmp_path / "none.svg").exists()


def test_events_are_lines_of_json():
    line = json.loads(to_line(timed("seeds/a.py", 1.0)))
    assert line["event"] == "seed"
    assert line["programs"][1]["compiled_ratio"]["median"] == 1.0
