"""Texts are broken between words; names and paths that are longer than the console stay whole."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, Group
from rich.measure import Measurement
from rich.text import Text

from eqfuzz.report.layout import Framed, LabelledTexts, between_words, print_text

PATH = "/a/path/of/a/user/that/is/longer/than/the/console/is/wide.py"


def printed(renderable: object, width: int = 40) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width).print(renderable, crop=False)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def lines(text: str, width: int) -> list[str]:
    return between_words(Text(text), width).plain.split("\n")


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("", [""]),
        ("one two", ["one two"]),
        ("one two three", ["one two", "three"]),
        (f"in {PATH} line 3", ["in", PATH, "line 3"]),
        (PATH, [PATH]),
        (f"    {PATH}", [f"    {PATH}"]),
        ("first\n\n  second and third", ["first", "", "  second", "and third"]),
        ("日本語 日本語 x", ["日本語", "日本語 x"]),
    ],
)
def test_lines_are_broken_between_words(text: str, broken: list[str]):
    assert lines(text, 10) == broken


@given(st.text(alphabet="ab \n漢", max_size=60), st.integers(1, 20))
def test_no_word_is_lost_or_broken(text: str, width: int):
    assert " ".join(lines(text, width)).split() == text.split()


def test_styles_stay_with_their_words():
    text = between_words(Text.assemble("one ", ("two three", "bold"), " four"), 8)
    assert [text.plain[span.start : span.end] for span in text.spans if "bold" in str(span.style)] == ["two", "three"]


@pytest.mark.parametrize("terminal", [True, False])
def test_path_is_printed_whole(terminal: bool):
    stream = io.StringIO()
    print_text(Console(file=stream, width=40, force_terminal=terminal), Text(f"in the file {PATH} at line 3"))
    assert PATH in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == (3 if terminal else 1)


def test_labels_stand_beside_their_texts():
    rows = [("seed", Text(PATH)), ("a label", Text("several words that take more than one line\nand a line"))]
    assert printed(LabelledTexts(rows, margin=2)) == [
        f"  seed     {PATH}",
        "  a label  several words that take more",
        "           than one line",
        "           and a line",
    ]


def test_labelled_texts_are_measured():
    console = Console(width=200, file=io.StringIO())
    rows = LabelledTexts([("seed", Text("one three")), ("", Text("four"))])
    assert Measurement.get(console, console.options, rows) == (11, 15)


def test_frame_is_open_where_lines_are_too_long():
    parts = [LabelledTexts([("seed", Text(PATH))]), Text(), Text("some words of a message that is longer")]
    assert printed(Framed(Text(" title "), parts, "red", 30), 30) == [
        "╭─ title ─────────────────────",
        f"│ seed  {PATH}",
        "│",
        "│ some words of a message that",
        "│ is longer",
        "╰─────────────────────────────",
    ]


def test_frame_holds_any_renderable():
    assert printed(Framed(Text(""), [Group(Text("a"), Text("b"))], "red", 10))[1:3] == ["│ a", "│ b"]
