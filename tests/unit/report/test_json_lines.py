"""JSON lines: valid JSON, one event a line, in the order of the seeds whatever order they end in."""

from __future__ import annotations

import io
import json
import random

import pytest

from eqfuzz.events.event import Event
from eqfuzz.events.run import SeedStarted
from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.report.machine.json_lines import JsonLines, to_line

from . import sample_events as sample


def written(events: list[Event]) -> list[str]:
    stream = io.StringIO()
    with JsonLines(stream) as report:
        for event in events:
            report.handle(event)
    return stream.getvalue().splitlines()


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def seed_events(index: int) -> list[Event]:
    return [
        SeedStarted(index=index, seed=f"seed{index}.py"),
        sample.cell(index, 0),
        sample.cell(index, 1),
        sample.done(index),
    ]


def test_last_line_is_summary_and_no_event_is_lost():
    events = sample.whole_run()
    lines = [json.loads(line, parse_constant=refuse) for line in written(events)]
    assert len(lines) == len(events)
    assert lines[0]["event"] == "start"
    assert lines[-1]["event"] == "summary"
    assert lines[-1]["verdicts"] == {"agree": 12, "invalid-seed": 1, "wrong-result": 2}
    assert next(iter(lines[0])) == "event"


def test_the_summary_groups_invalid_seeds_by_reason():
    summary = json.loads(written([sample.started(22), sample.summary(**sample.invalid(2))])[-1])
    assert summary["invalid"] == 7
    first, second = summary["invalid_reasons"]
    assert first == {"reason": sample.AUTOGRAD, "count": 6, "seeds": ["a.py", "b.py"], "place": "a.py"}
    assert (second["count"], second["place"]) == (1, "s1.py:1")


def test_seeds_are_written_in_order_of_index():
    lines = [json.loads(line) for line in written(sample.whole_run())]
    indices = [line["index"] for line in lines if "index" in line]
    assert indices == sorted(indices)


@pytest.mark.parametrize("order", range(20))
def test_lines_do_not_depend_on_job_order(order):
    seeds = [seed_events(i) for i in range(6)]
    straight = [sample.started(6), *(event for seed in seeds for event in seed), sample.summary()]
    choose = random.Random(order)
    queues = [list(seed) for seed in seeds]
    mixed: list[Event] = []
    while any(queues):
        mixed.append(choose.choice([q for q in queues if q]).pop(0))
    assert written([sample.started(6), *mixed, sample.summary()]) == written(straight)


def test_events_of_current_seed_are_written_at_once():
    stream = io.StringIO()
    report = JsonLines(stream)
    for event in (sample.started(), *seed_events(1), SeedStarted(index=0, seed="seed0.py")):
        report.handle(event)
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["start", "seed"]
    report.handle(sample.done(0))
    assert len(stream.getvalue().splitlines()) == 7


def test_held_events_are_written_when_run_is_interrupted():
    lines = written([sample.started(), SeedStarted(index=0, seed="seed0.py"), *seed_events(2), *seed_events(1)])
    indices = [json.loads(line).get("index") for line in lines]
    assert indices == [None, 0, 1, 1, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_values_without_json_form_are_strings(number):
    evidence = Evidence(path="output", index=(1, 2), compiled=number, eager=3 + 4j, allowed=0.5)
    line = to_line(sample.cell(0, 1, VerdictKind.WRONG_RESULT, evidence))
    evidence = json.loads(line, parse_constant=refuse)["verdict"]["evidence"]
    assert evidence["compiled"] == str(number)
    assert evidence["eager"] == "(3+4j)"
    assert evidence["index"] == [1, 2]
    assert evidence["allowed"] == 0.5


def test_line_break_in_message_is_escaped():
    finding = sample.finding(sample.POW, message="first\nsecond \u2028 third")
    line = to_line(sample.finding_event(finding))
    assert len(line.splitlines()) == 1
    assert json.loads(line)["verdict"]["message"] == "first\nsecond \u2028 third"
