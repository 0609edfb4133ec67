"""The HTML report of a run, from folders made without running anything."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from eqfuzz.cli.findings.lookup import buckets_in, listed_findings
from eqfuzz.oracle.compare.error_map import ErrorMap
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.html import page
from eqfuzz.report.html.code import diff, highlighted
from eqfuzz.report.html.page import MOST_BYTES, html_page
from eqfuzz.report.html.pictures import error_picture, histogram
from eqfuzz.report.html.stored_run import read_record
from eqfuzz.rewrite.rewrite_step import RewriteStep
from tests.unit.cli.in_process import call
from tests.unit.report import run_folders, sample_events

ATTACK = "</script><img src=x onerror=alert(1)>"


def written(folder: Path, with_list: bool = True) -> str:
    lists = [run_folders.list_of_known_issues(folder)] if with_list else []
    listed = listed_findings(folder, lists)
    return html_page(read_record(folder), listed, buckets_in(folder).all, "Written by a test")


def section(text: str, id: str) -> str:
    return text.partition(f'<section id="{id}"')[2].partition("\n<section id=")[0]


def plain(text: str) -> str:
    """What a reader sees."""
    text = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
    return " ".join(Markup(re.sub(r"<[^>]+>", " ", text)).unescape().split())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_folders.sample_run(tmp_path / "run")


def test_new_buckets_stand_apart_from_known_issues(run):
    text = written(run)
    assert re.findall(r'<article class="card" id="bucket-(\w+)"', section(text, "new")) != []
    assert section(text, "new").count("<article") == 2
    assert section(text, "known").count("<article") == 1
    assert "https://github.com/pytorch/pytorch/issues/1" in section(text, "known")
    assert "https://github.com/pytorch/pytorch/issues/1" not in section(text, "new")
    assert section(written(run, with_list=False), "known").count("<article") == 0


def test_gravest_bucket_comes_first_with_its_evidence(run):
    new = section(written(run), "new")
    first, second = new.split("<article")[1:]
    assert 'data-severity="wrong-values"' in first
    assert 'data-severity="crash"' in second
    words = plain("<article" + first)
    for part in ("worst element", "output[0][1, 18]", "4.250000123", "3.1e-06", "3 of 1,024 elements; 5 unstable"):
        assert part in words
    assert "2 findings" in words
    assert "only the transformed program shows it" in words
    assert first.count('class="picture"') == 2
    assert second.count('class="picture"') == 0


def test_summary_counts_the_run(run):
    words = plain(section(written(run), "summary"))
    assert "2 new buckets" in words
    assert "wrong values: 1, crashes: 1" in words
    assert "exit code 1" in words
    assert "eqfuzz mutate seeds/ --seed 7" in words
    assert "wall time 1 min 02 s" in words
    assert "4 compiled cells" in words


def test_what_was_not_tried_is_listed(run):
    words = plain(section(written(run), "gaps"))
    assert "47 of 49 selected rules are in no compiled variant" in words
    assert "Nothing ran on CUDA" in words
    assert "seed1.py: seed1.py:3: no inputs" in words
    assert "1 compiled cell is flaky" in words


def test_run_without_end_says_so(tmp_path):
    run_folders.write_events(tmp_path, sample_events.whole_run()[:6])
    text = written(tmp_path)
    assert "it was killed, or is still running" in plain(section(text, "summary"))
    assert "The end of the run is not recorded" in plain(section(text, "gaps"))
    assert "seed0.py" in plain(section(text, "gaps"))
    assert "No new defect was found" in text


def test_seeds_that_were_left_out_are_named(tmp_path):
    *events, _ = sample_events.whole_run()
    run_folders.write_events(tmp_path, [*events, sample_events.summary(interrupted=True, left_out=["far/seed9.py"])])
    text = written(tmp_path)
    assert "far/seed9.py" in section(text, "gaps")
    assert "exit code 130" in section(text, "summary")


def test_only_the_last_call_of_a_folder_is_counted(tmp_path):
    run_folders.write_events(tmp_path, sample_events.whole_run())
    run_folders.write_events(tmp_path, sample_events.whole_run())
    record = read_record(tmp_path)
    assert record.calls == 2
    assert record.cells == 4
    assert "2 in this folder" in plain(written(tmp_path))


def test_damaged_lines_are_counted(tmp_path):
    run_folders.write_events(tmp_path, sample_events.whole_run())
    with (tmp_path / "events.ndjson").open("ab") as file:
        file.write(b'{"event": "cell"}\n[1]\n\xff\xfe{"eve')
    assert "events.ndjson: 3 damaged lines were left out" in plain(written(tmp_path))


def test_findings_without_events_are_shown(tmp_path):
    run_folders.write_findings(tmp_path, run_folders.sample_findings())
    text = written(tmp_path)
    assert "The run has left no events" in text
    assert section(text, "new").count("<article") == 2


def test_further_findings_of_a_bucket_are_counted(tmp_path):
    first = run_folders.sample_findings()[0]
    run_folders.write_findings(tmp_path, [dataclasses.replace(first, id=f"{n}aaaaaaaaa") for n in range(8)])
    text = written(tmp_path)
    assert "8 findings (3 only counted)" in plain(text)
    assert "3 findings are not shown" in plain(section(text, "gaps"))


def test_campaign_has_sources_curves_and_rewards(tmp_path):
    lines = [
        {"event": "start", "campaign": "night", "seed": 1, "resumed": False, "sources": ["opinfo"], "rules": 9}
        | {"configs": [], "devices": ["cpu"], "jobs": 2, "versions": {"eqfuzz": "0.1.0", "torch": "2.15.0"}},
        {"event": "item", "index": 1, "seed": "a.py", "arms": {"source": "opinfo", "config": "inductor"}, "attempt": 1},
        {"event": "seed", "index": 1, "seed": "a.py"},
        sample_events.cell(1, 0).to_json() | {"seed": "a.py"},
        {"event": "stored", "index": 1, "seed": "a.py", "state": "done", "reason": "", "cells": 1, "cpu_seconds": 1.0},
        {"event": "epoch", "epoch": 1, "point": {"features": 120, "lines": 4000, "seconds": 90.0}}
        | {"yields": {"rules": {"algebra": 0.25}}},
        {"event": "start", "campaign": "night", "seed": 1, "resumed": True, "sources": ["opinfo"], "rules": 9}
        | {"configs": [], "devices": ["cpu"], "jobs": 2, "versions": {"eqfuzz": "0.1.0", "torch": "2.15.0"}},
        {"event": "epoch", "epoch": 2, "point": {"features": 150, "lines": 4100, "seconds": 190.0}}
        | {"yields": {"rules": {"algebra": 0.5}}},
    ]
    (tmp_path / "events.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = written(tmp_path)
    assert "2 calls of one campaign" in text
    assert "150 features reached after 3 min 10 s" in plain(section(text, "time"))
    assert "4,100 lines of the compiler executed" in plain(section(text, "time"))
    yields = plain(section(text, "yield"))
    assert "By source of seeds" in yields
    assert "opinfo" in yields
    assert "rules: algebra 0.50" in yields
    assert "eqfuzz campaign --name night" in section(text, "reproduce")


def test_matrix_of_a_sweep(tmp_path):
    operators = {"add": {"bool": {"known": 1, "agree": 1}, "int8": {"agree": 2}}, "mul": {"int8": {"new": 1}}}
    run_folders.write_matrix(tmp_path, operators, **{"left out": {"too large": {"conv": 3}}})
    text = written(tmp_path)
    matrix = section(text, "matrix")
    assert re.search(r'class="n bad">1 new<', matrix)
    assert "1 known, 1" in plain(matrix)
    assert "3 samples were left out" in plain(section(text, "gaps"))
    assert "conv (3)" in section(text, "gaps")
    heading = "4 of 4 samples judged, configuration inductor. CPU: run on 2026-11-27. CUDA: not run: no device."
    (tmp_path / "matrix.md").write_text(f"# Eager and compiled: opinfo\n\n{heading}\n\nSamples by outcome:\n")
    assert heading in section(written(tmp_path), "summary")
    assert "Nothing ran on CUDA no device" in plain(section(written(tmp_path), "gaps"))


def test_page_loads_nothing_and_its_policy_names_its_script(run):
    text = written(run)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "http" not in policy[1]
    assert not re.search(r"<(link|img|iframe|object|embed|script [^>]*src)\b", text)
    assert not re.search(r"\bstyle=", text.partition("</style>")[2].partition("<script>")[0])
    assert "url(" not in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert page._digest(script) in Markup(policy[1]).unescape()


def attacking_run(folder: Path) -> Path:
    name = f"seeds/{ATTACK}.py"
    source = f'import torch\n\n\ndef program(x):\n    # {ATTACK}\n    return x + 1  # " onload="alert(2)\n'
    program = dataclasses.replace(sample_events.program(source, name), inputs=ATTACK)
    finding = dataclasses.replace(
        sample_events.finding(message=ATTACK),
        original=program,
        transformed=dataclasses.replace(program, source=source.replace("x + 1", f'x + len("{ATTACK}")')),
        derivation=(RewriteStep(ATTACK, 6, "x + 1", f'x + len("{ATTACK}")'),),
        fingerprint=ATTACK,
        config=ATTACK,
        suspects=(ATTACK,),
        cells={"P": ATTACK, "C(P)": ATTACK},
        verdict=dataclasses.replace(
            sample_events.finding(message=ATTACK).verdict,
            evidence=dataclasses.replace(sample_events.EVIDENCE, path=ATTACK, eager=ATTACK, frames=(ATTACK,)),
        ),
    )
    cell = dataclasses.replace(sample_events.cell(0, 1), rules=[ATTACK], config=ATTACK, seed=name)
    invalid = sample_events.SeedInvalid(index=1, seed=name, reason=ATTACK)
    started = dataclasses.replace(sample_events.started(), strategy=ATTACK, versions={"torch": ATTACK})
    run_folders.write_events(folder, [started, cell, invalid, sample_events.summary(errors=[ATTACK])])
    run_folders.write_findings(folder, [finding], script=f"print('''{ATTACK}''')\n")
    run_folders.write_matrix(folder, {ATTACK: {ATTACK: {ATTACK: 1}}}, **{"left out": {ATTACK: {ATTACK: 1}}})
    return folder


def test_text_of_programs_is_inert(tmp_path):
    text = written(attacking_run(tmp_path / "<b onclick=x>"), with_list=False)
    assert ATTACK not in text
    assert "<img" not in text
    assert "<b onclick" not in text
    assert text.count("<script>") == text.count("</script>") == 1
    assert ' onload="' not in text
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in text


def test_issue_of_a_list_is_a_link_only_where_it_is_an_address(tmp_path):
    run_folders.write_findings(tmp_path, run_folders.sample_findings())
    file = run_folders.list_of_known_issues(tmp_path)
    file.write_text(file.read_text().replace("https://github.com/pytorch/pytorch/issues/1", "javascript:alert(1)"))
    text = html_page(read_record(tmp_path), listed_findings(tmp_path, [file]), buckets_in(tmp_path).all, "")
    assert "javascript:alert(1)" in section(text, "known")
    assert 'href="javascript' not in text


def test_script_that_is_not_shown_exactly_is_not_copied(run, tmp_path):
    assert "Copy script of" in written(run)
    for number, script in enumerate(("x = 1\n" * 1000, "x = '\u202e'\n")):
        folder = tmp_path / str(number)
        run_folders.write_findings(folder, run_folders.sample_findings(), script=script)
        text = written(folder)
        assert "Copy script of" not in text
        assert "take it from its folder" in text


def test_characters_that_reorder_text_are_replaced():
    assert "\u202e" not in highlighted("x = 1  # \u202e evil\x1b[2J")
    assert "\x1b" not in highlighted("x = 1  # \x1b[2J")


def test_large_run_stays_below_the_limit(tmp_path):
    first = run_folders.sample_findings()[0]
    long = first.original.source + "".join(f"\n\ndef helper{n}(x):\n    return x + {n}\n" for n in range(60))
    program = dataclasses.replace(first.original, source=long)
    for n in range(400):
        finding = dataclasses.replace(first, id=f"{n:010d}", original=program, fingerprint=f"values · Inductor · op{n}")
        run_folders.write_findings(tmp_path, [finding], script=long)
    text = written(tmp_path)
    assert len(text.encode()) < MOST_BYTES
    assert "To keep this file small" in text
    assert text.count("<article") == page.MOST_CARDS


def test_limit_drops_buckets_at_last(run, monkeypatch):
    whole = len(written(run).encode())
    monkeypatch.setattr(page, "MOST_BYTES", whole - 14_000)
    text = written(run)
    assert "more are left out to keep this file small" in text or "no code, pictures and scripts here" in text


def test_diff_marks_what_a_rule_has_written():
    step = RewriteStep("algebra/commute", 2, "x + 1", "1 + x")
    lines = diff("def f(x):\n    return x + 1\n", "def f(x):\n    return 1 + x\n", (step,))
    assert [line.sign for line in lines] == [" ", "-", "+"]
    assert lines[2].rules == ("algebra/commute",)
    assert Markup(lines[2].code).striptags().strip() == "return 1 + x"
    assert "<mark>" in lines[2].code


def test_highlighting_keeps_the_text():
    source = 'def f(x):\n    """Tabs."""\n    return f"{x} <&> {\'a\'}"  # done\n'
    assert Markup(highlighted(source)).striptags().split() == source.split()
    assert Markup(re.sub(r"<[^>]+>", "", highlighted("\tx\n" + source))).unescape() == "\tx\n" + source


def test_picture_has_a_cell_for_each_block_and_rings_the_worst():
    picture = ElementTree.fromstring(error_picture(run_folders.MAP, (1, 18)))
    assert sum(str(path.get("d")).count("M") for path in picture.findall("path")) == 4 * 32
    assert [path.get("class") for path in picture.findall("path")] == ["w0", "w1", "w3", "w5", "w9"]
    assert [rect.get("class") for rect in picture.findall("rect")] == ["worst"]
    assert "4 of 128 blocks have wrong elements" in str(picture.get("aria-label"))
    assert ElementTree.fromstring(error_picture(run_folders.MAP, (9, 99))).findall("rect") == []


def test_histogram_separates_what_is_allowed():
    picture = ElementTree.fromstring(histogram(run_folders.MAP))
    kinds = [rect.get("class") for rect in picture.findall("rect")]
    assert kinds == ["within"] * 3 + ["beyond"] * 6
    assert "18 beyond what is allowed" in str(picture.get("aria-label"))
    assert histogram(ErrorMap((2,), ("90",))) == ""


def test_verb_writes_the_file(run, tmp_path):
    file = tmp_path / "report.html"
    result = call("report", str(run), "--html", str(file))
    assert result.exit_code == 0, result.output
    assert file.read_text().startswith("<!doctype html>")
    assert f"{file}: written" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{run}"], "--html: nothing is written without it"),
        (["{run}", "--html", "{run}"], "a folder"),
        (["{run}", "--html", "{run}/none/r.html"], "no folder"),
        (["{run}/none", "--html", "{run}/r.html"], "no such folder"),
        (["{empty}", "--html", "{run}/r.html"], "no findings and no events"),
        (["{many}", "--html", "{run}/r.html"], "RUN: {many} is no run but holds run"),
    ],
)
def test_bad_input_is_one_line(run, tmp_path, arguments, problem):
    (tmp_path / "empty").mkdir()
    folders = {"run": run, "empty": tmp_path / "empty", "many": tmp_path}
    result = call("report", *(argument.format(**folders) for argument in arguments))
    assert result.exit_code == 2
    assert problem.format(**folders) in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_kinds_without_numbers_are_shown(tmp_path):
    kinds = (VerdictKind.HANG, VerdictKind.PROCESS_CRASH, VerdictKind.WRONG_METADATA, VerdictKind.EXCEPTION_MISMATCH)
    findings = [
        dataclasses.replace(
            sample_events.finding(kind=kind, evidence=None, message=f"it is {kind}"), id=f"{n}ddddddddd", fingerprint=""
        )
        for n, kind in enumerate(kinds)
    ]
    run_folders.write_findings(tmp_path, findings)
    text = written(tmp_path)
    assert section(text, "new").count("<article") == len(kinds)
    assert "4 findings have no location in the compiler" in plain(section(text, "gaps"))
