"""Verbs that list: they load neither torch nor its kin, and what they print can be copied."""

from __future__ import annotations

import dataclasses
import io
import re
import subprocess
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

from eqfuzz.campaign.invocation import InvocationOptions, open_store
from eqfuzz.cli.app import app
from eqfuzz.report.rules.listing import to_fields
from eqfuzz.report.tables import plain_table, print_listing, print_table
from eqfuzz.rewrite.rules.declarations import shipped_declarations
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.findings import finding_of

GROUPS = ((), *((name,) for name in ("bucket", "campaign", "config", "corpus", "generate", "known", "rules")))
HEAVY = (
    *("torch", "numpy", "libcst", "sqlalchemy", "alembic", "openai", "genai_prices", "coverage", "asyncio"),
    *("tomlkit", "pygments", "filelock", "eqfuzz.rewrite.rules.library", "eqfuzz.generate.dag.build"),
)
"""Each takes between 5 and 3,000 ms; a listing has 300, of which Python, Typer and rich take 200."""

LONG = "a_very_long_name_of_a_rule_that_no_terminal_has_room_for_beside_all_the_other_columns"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["rules", "list"], 0),
        (["rules", "list", "shapes/*", "--format", "json"], 0),
        (["rules"], 0),
        (["known", "list"], 0),
        (["generate", "ops"], 0),
        (["generate", "templates"], 0),
        (["generate", "prompts"], 0),
        (["generate", "parts"], 0),
        (["config", "list"], 0),
        (["config", "list", "--format", "json"], 0),
        (["findings", "--out", "{run}"], 1),
        (["findings", "--out", "{run}", "--format", "json"], 1),
        (["campaign", "list", "--out", "{run}"], 0),
        (["seeds", "list", "seeds/onnx"], 0),
    ],
)
def test_listing_imports_nothing_heavy(tmp_path, arguments, code):
    write_folder(tmp_path / "findings", finding_of(rules=("algebra/commute",)), ReproducerScript(""), None)
    with open_store(InvocationOptions(name="", out=tmp_path)):
        pass
    script = (
        "import sys\n"
        "from eqfuzz.cli import main\n"
        f"sys.argv[1:] = {[text.format(run=tmp_path) for text in arguments]!r}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    code = end.code\n"
        f"print('loaded', [name for name in {HEAVY!r} if name in sys.modules], code)\n"
    )
    for _ in range(2):  # the first call may have to read source files, and stores what they declare
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[-1] == f"loaded [] {code}"


def test_declarations_are_what_loading_the_rules_gives():
    declared = [to_fields(rule) for rule in shipped_declarations()]
    assert declared == [to_fields(rule) for rule in shipped_rules()]


@pytest.mark.parametrize("verb", [["campaign", "list"], ["campaign", "show", "night"], ["corpus", "min", "night"]])
def test_missing_database_is_refused_and_not_created(tmp_path, verb):
    result = CliRunner().invoke(app, [*verb, "--db", f"sqlite:///{tmp_path}/a/none.db"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"eqfuzz: --db: no campaigns in {tmp_path}/a/none.db: no such file\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("group", GROUPS)
def test_no_summary_of_a_verb_is_cut_off(group):
    result = CliRunner().invoke(app, [*group, "--help"], env={"COLUMNS": "80"})
    _, _, verbs = result.stdout.partition("Commands:")
    summaries = re.findall(r"^  (\S+) +(.+)$", verbs, re.MULTILINE)
    assert len(summaries) == len(verbs.strip().splitlines())
    assert [name for name, summary in summaries if summary.endswith("...") or len(summary) > 50] == []


def test_column_of_names_stays_whole_where_the_table_does_not_fit():
    table = plain_table("Rules")
    table.add_column("rule", no_wrap=True)
    table.add_column("about", overflow="fold")
    table.add_row(LONG, "several words that may be broken between lines, and are")
    stream = io.StringIO()
    print_table(Console(file=stream, width=60), table)
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if LONG in line]
    assert max(map(len, lines)) < len(LONG) + 25


def test_table_that_fits_is_no_wider_than_its_words():
    table = plain_table()
    table.add_column("rule", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_row("short", "7")
    stream = io.StringIO()
    print_table(Console(file=stream, width=60), table)
    assert stream.getvalue().splitlines() == ["rule    count", "─────────────", "short       7"]


def test_texts_in_a_listing_are_broken_between_words():
    stream = io.StringIO()
    rows = [[(LONG, ""), ("several words, of which log-probabilities is one", "dim")], [("short", ""), ("one", "dim")]]
    print_listing(Console(file=stream, width=60), ("name", "about"), rows, texts=1)
    lines = stream.getvalue().splitlines()[2:]
    assert [line[: len(LONG)].strip() for line in lines] == [LONG, "", "", "", "short"]
    texts = [line[len(LONG) :].strip() for line in lines]
    assert texts == ["several words,", "of which", "log-probabilities", "is one", "one"]


def test_listing_has_the_form_of_a_table_and_breaks_no_line():
    stream = io.StringIO()
    rows = [[(LONG, "dim"), ("x", ""), ("", "")], [("short", ""), ("", ""), ("last", "red")]]
    print_listing(Console(file=stream, width=60), ("name", "n", "more"), rows)
    head, rule, first, second = stream.getvalue().splitlines()
    assert head.split() == ["name", "n", "more"]
    assert rule == "─" * 60
    assert first == f"{LONG}   x"
    assert second.index("last") == head.index("more")


@pytest.mark.parametrize("width", [80, 100])
def test_names_in_listings_are_whole_at_every_width(tmp_path, width):
    seed = f"seeds/{LONG}/{LONG}.py"
    finding = finding_of(rules=("algebra/commute",))
    finding = dataclasses.replace(finding, original=dataclasses.replace(finding.original, name=seed))
    write_folder(tmp_path / "findings", finding, ReproducerScript(""), None)
    call = CliRunner().invoke
    assert seed in call(app, ["findings", "--out", str(tmp_path)], env={"COLUMNS": str(width)}).stdout
    rules = call(app, ["rules", "list"], env={"COLUMNS": str(width)}).stdout
    names = {rule.name.partition("/")[2] for rule in shipped_declarations()}
    assert names <= set(rules.split())
