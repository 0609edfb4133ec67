"""Markdown of a run: parsed by another program, nothing in a text is markup."""

import itertools
import re

import pytest
from markdown_it import MarkdownIt

from eqfuzz.events.campaign import CampaignStarted, CampaignSummary, ItemEnded
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary, UseChecked
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.machine.markdown import LONGEST, markdown_text
from eqfuzz.report.machine.markdown_text import code, fenced, folded, summary_line, table
from tests.unit.report import sample_events as sample
from tests.unit.report.reports import BUCKET, HOSTILE, finding_event, hostile_event, record_of, sweep

ISSUE = "https://github.com/pytorch/pytorch/issues/1"
CAMPAIGN_STARTED = CampaignStarted(
    campaign="night",
    seed=0,
    resumed=False,
    sources=["folder:seeds", "template:mixed"],
    rules=1,
    configs=["inductor"],
    devices=["cpu"],
    jobs=1,
    executor="local",
    feedback=True,
    out="out",
    store="db",
    versions={"torch": "2.15.0"},
)
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


def tables(text):
    """The cells of every table, row by row, as tokens."""
    rows: list[list] = []
    every: list[list] = []
    for token in PARSER.parse(text):
        if token.type == "table_open":
            rows = []
            every.append(rows)
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level > 3:
            rows[-1].append(token)
    return every


def visible(token):
    """The text of a cell or paragraph as a reader sees it."""
    return "".join(child.content for child in token.children if child.type != "html_inline")


def headings(text):
    tokens = PARSER.parse(text)
    return [following.content for token, following in itertools.pairwise(tokens) if token.type == "heading_open"]


def kinds(text):
    return {child.type for token in PARSER.parse(text) for child in (token.children or ())}


def test_a_clean_run_says_what_was_run_and_what_was_not():
    record = record_of(
        sample.started(), sample.cell(0, 0), sample.done(0), sample.summary(findings=0, invalid_reasons=[])
    )
    text = markdown_text(record)
    assert headings(text) == ["eqfuzz: no new findings", "Not tried"]
    [rows] = tables(text)
    facts = {visible(row[0]): visible(row[1]) for row in rows[1:]}
    assert facts["versions"] == "eqfuzz 0.1.0, torch 2.13.0 cpu, python 3.11.9"
    assert facts["compiled cells"] == "1: 1 agree"
    assert facts["configurations"] == "inductor on cpu (1)"
    assert facts["random seed"] == "7"
    assert "the device cuda" in text


def test_buckets_are_rows_and_reproducers_are_folded(tmp_path):
    (tmp_path / "repro.py").write_text("import torch\nprint('```')\n")
    events = [
        finding_event(tmp_path, bucket=BUCKET, fingerprint="values · amin", rules=(r,), index=n)
        for n, r in enumerate("ab")
    ]
    text = markdown_text(record_of(sample.started(), *events, sample.summary()))
    _, buckets = tables(text)
    assert [visible(cell) for cell in buckets[1]] == [
        BUCKET,
        "wrong-result",
        "wrong-values",
        "2",
        "values · amin",
        "seeds/some.py",
        "it differs",
    ]
    [block] = [token for token in PARSER.parse(text) if token.type == "fence"]
    assert (block.info, block.content) == ("python", "import torch\nprint('```')\n")
    assert text.count("<details>") == text.count("</details>") == 1
    assert headings(text)[:2] == ["eqfuzz: 2 new findings in 1 bucket", "New"]


def test_known_issues_are_apart():
    events = [finding_event(issue=ISSUE, rules=(rule,), index=n) for n, rule in enumerate("abc")]
    text = markdown_text(record_of(sample.started(), sample.cell(0, 0), *events, sample.done(0), sample.summary()))
    assert headings(text)[:2] == ["eqfuzz: no new findings", "Known issues"]
    _, issues = tables(text)
    assert [visible(cell) for cell in issues[1]] == [ISSUE, "3", "seeds/some.py"]


def test_the_gravest_bucket_comes_first():
    kinds = (VerdictKind.WRONG_METADATA, VerdictKind.HANG, VerdictKind.WRONG_RESULT)
    events = [finding_event(kind=kind, bucket=str(kind), index=n) for n, kind in enumerate(kinds)]
    _, buckets = tables(markdown_text(record_of(sample.started(), *events)))
    assert [visible(row[1]) for row in buckets[1:]] == ["wrong-result", "hang", "wrong-metadata"]


def test_hostile_texts_are_text(tmp_path):
    record = record_of(
        sample.started(), hostile_event(tmp_path / "f"), sample.summary(errors=[HOSTILE], left_out=[HOSTILE])
    )
    text = markdown_text(record)
    assert {"link_open", "image", "em_open", "strong_open"}.isdisjoint(kinds(text))
    _, buckets = tables(text)
    assert [len(row) for row in buckets] == [7, 7]
    expected = " ".join(HOSTILE.translate({0x1B: "\ufffd", 0xDC80: "\ufffd", 0xFFFF: "\ufffd", 0x0D: "\ufffd"}).split())
    assert visible(buckets[1][4]) == expected
    assert headings(text) == [
        "eqfuzz: 1 new finding in 1 bucket; the run is not complete",
        "New",
        "Internal errors",
        "Not tried",
    ]
    html = [token.content for token in PARSER.parse(text) if token.type == "html_block"]
    assert [block.startswith("<details>") for block in html] == [True, False]
    assert html[1] == "</details>\n"
    assert "<script" not in "".join(html)


def test_report_fits_in_a_comment(tmp_path):
    events = [
        finding_event(bucket=f"b{n}", message="|" * 999, fingerprint=f"`{n}" * 200, rules=(str(n),), index=n)
        for n in range(99)
    ]
    text = markdown_text(record_of(sample.started(), *events))
    assert len(text) <= LONGEST
    assert re.search(r"^and \d+ more buckets$", text, re.MULTILINE)


def test_a_sweep_says_what_it_judged():
    text = markdown_text(record_of(*sweep()))
    assert headings(text)[0] == "eqfuzz: no new findings so far; the run is not complete"
    facts = {visible(row[0]): visible(row[1]) for row in tables(text)[0][1:]}
    assert facts["catalogue"] == "opinfo: 2 entries, float32, int8"
    assert facts["samples"] == "4 of 5 judged: 3 agree, 1 new"
    assert "- `1 sample not judged yet`" in text
    assert "- `1 sample left out: raises in eager`" in text
    assert headings(markdown_text(record_of(*sweep(finding_event()))))[0].startswith("eqfuzz: 1 new finding")


def test_a_campaign_says_where_its_seeds_came_from():
    ended = CampaignSummary(
        campaign="night",
        seed=0,
        why="time",
        interrupted=False,
        seconds=60.0,
        total_seconds=600.0,
        errors=[],
        figures={"programs": 12, "cells": 34},
        yields={},
        findings=0,
        buckets=0,
        known=0,
        new_here=[],
    )
    stored = ItemEnded(index=0, seed="seeds/a.py", state="done", reason="", cells=1, cpu_seconds=1.0)
    text = markdown_text(record_of(CAMPAIGN_STARTED, sample.cell(0, 0), stored, ended))
    assert headings(text)[0] == "eqfuzz: no new findings"
    facts = {visible(row[0]): visible(row[1]) for row in tables(text)[0][1:]}
    assert (facts["sources"], facts["programs"]) == ("folder:seeds, template:mixed", "1: seeds 1")
    assert facts["all calls"] == "12 programs, 34 compiled cells"


def test_a_check_of_a_model_names_its_uses_and_those_not_tried():
    started = ModelCheckStarted(
        model="package.module:Net",
        definitions=1,
        modules=["package.module"],
        uses=["forward and backward", "evaluation"],
        variants=0,
        out="out",
        versions={"torch": "2.15.0"},
    )
    uses = [
        UseChecked(title="forward and backward", outcome="agrees"),
        UseChecked(title="evaluation", outcome="not tried"),
    ]
    ended = ModelCheckSummary(
        model="package.module:Net",
        uses=uses,
        findings=0,
        errors=[],
        interrupted=False,
        out_of_time=True,
        seconds=9.0,
        out="out",
    )
    text = markdown_text(record_of(started, sample.started(), sample.cell(0, 0), sample.done(0), ended))
    assert headings(text)[0] == "eqfuzz: no new findings so far; the run is not complete"
    facts = {visible(row[0]): visible(row[1]) for row in tables(text)[0][1:]}
    assert facts["model"] == "package.module:Net"
    assert facts["uses"] == "forward and backward: agrees, evaluation: not tried"
    assert "1 program not completed" in text


def test_long_scripts_are_only_named(tmp_path):
    (tmp_path / "repro.py").write_text("x = 1\n" * 3000)
    assert "18,000 characters" in markdown_text(record_of(sample.started(), finding_event(tmp_path)))


def test_run_that_broke_off_is_not_called_clean():
    text = markdown_text(record_of(sample.started(), sample.cell(0, 0), sample.done(0)))
    assert headings(text)[0] == "eqfuzz: the run broke off"
    assert headings(markdown_text(record_of()))[0] == "eqfuzz: nothing was run"


def test_run_that_compiled_nothing_is_not_called_clean():
    assert headings(markdown_text(record_of(sample.started(), sample.summary())))[0] == "eqfuzz: nothing was compiled"


@pytest.mark.parametrize(
    "text", ["a`b", "a|b", "\\|", "`` `", "a\nb", "<b>", "&amp;", "@user", "https://x.y", "*a*", "a\\", "#1"]
)
def test_code_shows_its_text_anywhere(text):
    flat = " ".join(text.split())
    [[_, row]] = tables(table(("a", "b"), [(code(text), "x")]))
    assert [visible(cell) for cell in row] == [flat, "x"]
    paragraph = PARSER.parse(f"- {code(text)}")
    [inline] = [token for token in paragraph if token.type == "inline"]
    assert visible(inline) == flat
    assert "link_open" not in {child.type for child in inline.children}


@pytest.mark.parametrize("text", ["```", "~~~\n```\n````", "</details>", "\tx", "", "$ `a`"])
def test_fences_hold_their_text(text):
    tokens = PARSER.parse(folded(summary_line(text), fenced(text)))
    [block] = [token for token in tokens if token.type == "fence"]
    assert block.content.strip("\n") == text.expandtabs(4).strip("\n")
    assert [token.type for token in tokens] == ["html_block", "fence", "html_block"]
