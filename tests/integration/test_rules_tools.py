"""The tools of the rule library through the command line: list, show, check, explain, own rules, diffs."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from eqfuzz.cli.app import app
from eqfuzz.events.run import SitesListed
from eqfuzz.report.run.rewrites import RewritesBySeed
from eqfuzz.rewrite.rewrite_step import RewriteStep
from tests.commandline import eqfuzz, mutate, write

MINE = """
    import os

    import libcst as cst
    import torch

    from eqfuzz.rewrite.facts.preconditions import floating, no_nan
    from eqfuzz.rewrite.rules.rule import rule


    @rule(exact="bitwise", where=[floating("x", "y"), no_nan("x", "y")], source="me")
    def greater(x, y):
        \"\"\"``x > y`` is ``~(x <= y)``.\"\"\"
        return x > y, ~(x <= y)


    @rule(exact="bitwise", where=[floating("x", "y")])
    def greater_of_anything(x, y):
        \"\"\"Wrong for NaN.\"\"\"
        return x > y, ~(x <= y)


    @rule(exact="bitwise")
    def deadly(x):
        \"\"\"Takes its process with it.\"\"\"
        return torch.sin(x), (torch.sin(x), os.abort())[0]


    @rule(exact="bitwise", example="def program(x):\\n    for i in range(2):\\n        x = x + i\\n    return x")
    def counted(loop: cst.For, ctx):
        \"\"\"A range as a list.\"\"\"
        yield f"for {ctx.text(loop.target)} in {list(ctx.value(loop.iter, 'range'))}:\\n    {ctx.block(loop.body)}"
"""

SEED = """
    import torch


    def program(x, y):
        first = x > y
        second = x > y / 0.0 * 0.0
        return first & second


    def inputs(rng):
        yield rng.normal(3, 4), rng.normal(3, 4)
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("own"), "my_rules.py", MINE)


def rules(*arguments: object) -> subprocess.CompletedProcess[str]:
    return eqfuzz("rules", *arguments)


def events_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def checked(mine: Path) -> subprocess.CompletedProcess[str]:
    return rules("check", "my-rules", "--rules-from", mine, "--jobs", 1, "--draws", 60, "--format", "json")


@pytest.mark.slow
def test_check_reports_rules_in_order(checked: subprocess.CompletedProcess[str]) -> None:
    events = events_of(checked)
    assert [e["event"] for e in events] == ["start", "rule", "rule", "rule", "rule", "summary"]
    verdicts = {e["rule"]: e["holds"] for e in events if e["event"] == "rule"}
    holds, wrong = ["my-rules/counted", "my-rules/greater"], ["my-rules/deadly", "my-rules/greater_of_anything"]
    assert verdicts == dict.fromkeys(holds, True) | dict.fromkeys(wrong, False)
    assert list(verdicts) == sorted(verdicts)
    assert checked.returncode == 1
    assert checked.stderr == ""


@pytest.mark.slow
def test_check_shows_problem_and_operands(checked: subprocess.CompletedProcess[str], mine: Path) -> None:
    events = events_of(checked)
    wrong = next(e for e in events if e.get("rule") == "my-rules/greater_of_anything")
    line = next(n for n, text in enumerate(mine.read_text().splitlines(), 1) if "greater_of_anything" in text)
    assert wrong["place"] == f"{mine}:{line - 1}"
    assert "x = torch." in wrong["problems"][0]
    assert "not bit for bit equal" in wrong["problems"][0]


@pytest.mark.slow
def test_rule_that_kills_its_process_affects_no_other(checked: subprocess.CompletedProcess[str]) -> None:
    events = events_of(checked)
    deadly = next(e for e in events if e.get("rule") == "my-rules/deadly")
    assert deadly["problems"] == ["trying it ended the process: killed by SIGABRT"]
    assert events[-1]["checked"] == 4
    assert events[-1]["failed"] == ["my-rules/deadly", "my-rules/greater_of_anything"]


@pytest.mark.long
@pytest.mark.slow
def test_check_of_valid_rule_is_exit_0_and_plain_text(mine: Path) -> None:
    done = rules("check", "greater", "--rules-from", mine, "--draws", 60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("✓ my-rules/greater  ")
    assert "1 rule holds" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout


@pytest.mark.slow
def test_show_has_declaration_and_executed_example(mine: Path) -> None:
    page = json.loads(rules("show", "greater", "--rules-from", mine, "--format", "json").stdout)
    assert (page["name"], page["left"], page["right"]) == ("my-rules/greater", "x > y", "~(x <= y)")
    assert page["guards"] == ["x, y: floating", "x, y: free of NaN"]
    assert page["source"] == "me"
    assert "return (x > y)" in page["example"]["before"]
    assert "return (~(x <= y))" in page["example"]["after"]
    text = rules("show", "my-rules/greater", "--rules-from", mine).stdout
    for part in ("my-rules/greater", "x > y  →  ~(x <= y)", "bitwise", "x, y: free of NaN", "@rule(", "+"):
        assert part in text


@pytest.mark.slow
def test_show_has_example_for_every_family() -> None:
    from eqfuzz.rewrite.proof.demonstration import demonstrate
    from eqfuzz.rewrite.rules.library import shipped_rules

    firsts = {rule.family: rule for rule in reversed(shipped_rules())}
    problems = {
        rule.name: demonstration for rule in firsts.values() if isinstance(demonstration := demonstrate(rule), str)
    }
    assert problems == {}


@pytest.mark.parametrize("tool", ["", "list", "show", "check", "explain"])
def test_help_of_rules_verbs_imports_nothing_heavy(tool: str) -> None:
    script = (
        "import sys\n"
        "from eqfuzz.cli import main\n"
        f"sys.argv[1:] = {['rules', *tool.split(), '--help']!r}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    code = end.code\n"
        "print([m for m in ('torch', 'libcst', 'numpy', 'rich', 'eqfuzz.rewrite') if m in sys.modules], code)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[-1] == "[] 0"


@pytest.mark.long
@pytest.mark.slow
def test_list_has_tags_and_counts() -> None:
    lines = events_of(rules("list", "layout", "--format", "json"))
    tagged = [line["name"] for line in lines if "layout" in line["tags"]]
    assert tagged
    assert len(tagged) < len(lines)
    text = rules("layout").stdout
    assert f"{len(lines)} rules in 1 family" in text
    assert f"layout {len(tagged)}" in text.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "add_functon"], "did you mean 'operators/add_function'?"),
        (["show", "operators/add_functon"], "did you mean 'operators/add_function'?"),
        (["check", "shape/*"], "did you mean 'shapes/*'?"),
        (["check", "layout,-layot/*"], "did you mean 'layout/*'?"),
        (["list", "operatrs"], "did you mean 'operators'?"),
        (["check", "--draws", "1"], "--draws"),
        (["shwo", "add_function"], "Did you mean 'show'?"),
        (["explain", "add_function", "no-such-seed.py"], "no-such-seed.py: no such file"),
    ],
)
def test_missing_rule_or_file_is_one_line_and_exit_2(arguments: list[str], message: str) -> None:
    done = rules(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("seeds"), "compared.py", SEED)


@pytest.mark.slow
def test_explain_has_matches_and_near_misses(mine: Path, seed: Path) -> None:
    done = rules("explain", "greater", seed, "--rules-from", mine, "--format", "json")
    assert done.returncode == 0, done.stderr
    match, miss, summary = events_of(done)
    lines = seed.read_text().splitlines()
    assert (match["event"], match["before"], match["after"]) == ("match", "x > y", "~(x <= y)")
    assert lines[match["line"] - 1].endswith("first = x > y")
    assert "first = ~(x <= y)" in match["source"]
    assert (miss["event"], miss["text"]) == ("miss", "x > y / 0.0 * 0.0")
    assert miss["bindings"] == {"x": "x", "y": "y / 0.0 * 0.0"}
    assert "free of NaN" in miss["reason"]
    assert (summary["matches"], summary["misses"]) == (1, 1)


@pytest.mark.long
@pytest.mark.slow
def test_explain_prints_matches_and_near_misses(mine: Path, seed: Path) -> None:
    text = rules("explain", "my-rules/greater", seed, "--rules-from", mine).stdout
    assert "first = ~(x <= y)" in text
    assert "(y is y / 0.0 * 0.0)" in text
    assert "is not free of NaN" in text
    assert text.splitlines()[-1] == "1 place where it applies  ·  1 near miss"


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("pow_half_is_sqrt", "the left side occurs nowhere: no binary operation in the code under test is one"),
        pytest.param(
            "add_function_back",
            "the left side occurs nowhere: the code under test has no call",
            marks=pytest.mark.long,
        ),
        pytest.param("counted", "it looks at every for: there is none in the code under test", marks=pytest.mark.long),
    ],
)
def test_explain_states_that_nothing_matches(mine: Path, seed: Path, rule: str, message: str) -> None:
    done = rules("explain", rule, seed, "--rules-from", mine)
    assert done.returncode == 0
    assert message in " ".join(done.stdout.split())


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no')", "raises in eager: ValueError: no"),
        ("import os; os.abort()", "killed by SIGABRT in eager"),
    ],
)
def test_explain_of_invalid_seed_is_one_line_and_exit_2(tmp_path: Path, body: str, message: str) -> None:
    path = write(tmp_path, "bad.py", f"def program(x):\n    {body}\n\n\ndef inputs(rng):\n    yield (rng.normal(2),)\n")
    done = rules("explain", "pow_half_is_sqrt", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["stock", pytest.param("spawn", marks=pytest.mark.long)])
def test_user_rules_reach_child_processes(mine: Path, seed: Path, tmp_path: Path, runner: str) -> None:
    own = ("--rules-from", mine, "--rules", "my-rules/greater", "--runner", runner)
    run = mutate(seed, *own, "--dry-run", out=tmp_path / "out")
    assert run.code == 0, run.errors
    assert [e["rules"] for e in run.of("cell")] == [["my-rules/greater"]]
    assert {e["verdict"]["kind"] for e in run.of("cell")} == {"agree"}


@pytest.mark.slow
def test_diff_emits_sites_and_variants_and_runs_no_variant(mine: Path, seed: Path, tmp_path: Path) -> None:
    own = ("--rules-from", mine, "--rules", "my-rules/greater*", "--variants", "0")
    run = mutate(seed, *own, "--dry-run", "--diff", out=tmp_path / "out")
    assert run.code == 0, run.errors
    (sites,) = run.of("sites")
    assert {(s["rule"], s["before"]) for s in sites["sites"]} == {
        ("my-rules/greater", "x > y"),
        ("my-rules/greater_of_anything", "x > y"),
        ("my-rules/greater_of_anything", "x > y / 0.0 * 0.0"),
    }
    assert sites["source"].strip() == seed.read_text().strip()
    variants = run.of("variant")
    assert [v["variant"] for v in variants] == [1, 2]  # two rules write the same for the first place
    for variant in variants:
        (step,) = variant["derivation"]
        assert sites["source"].replace(step["before"], step["after"], 1) == variant["source"]
    assert run.of("cell") == []
    assert run.summary["sites"] == 3


@pytest.mark.long
@pytest.mark.slow
def test_diff_in_text_shows_sites_and_diffs(mine: Path, seed: Path, tmp_path: Path) -> None:
    own = ("--rules-from", mine, "--rules", "my-rules/greater", "--out", tmp_path / "out")
    done = eqfuzz("mutate", seed, *own, "--dry-run", "--diff")
    assert done.returncode == 0, done.stderr
    assert "1 site, 1 variant" in done.stdout
    assert "variant 1  my-rules/greater  bitwise" in done.stdout
    assert "first = ~(x <= y)" in done.stdout
    assert "\x1b" not in done.stdout


def test_table_dedents_statements() -> None:
    steps = [
        RewriteStep("a/peeled", 2, "for k in a:\n        f(k)", "for k in b:\n        f(k)\n    k = 2\n    f(k)"),
        RewriteStep("a/unrolled", 2, "for k in a:\n        f(k)", "k = 0\n    f(k)"),
    ]
    console = Console(width=100, record=True, file=io.StringIO())
    rewrites = RewritesBySeed(console)
    rewrites.take(SitesListed(index=0, seed="seed.py", source="text", sites=steps))
    rewrites.show(0)
    rows = [line for line in console.export_text().splitlines() if "k" in line]
    width = rows[0].rindex("for k")
    assert [row[width:].rstrip() for row in rows] == ["for k in b:", "    f(k)", "k = 2", "f(k)", "k = 0", "f(k)"]


def test_diff_requires_dry_run() -> None:
    result = CliRunner().invoke(app, ["mutate", "--diff"])
    assert result.exit_code == 2
    assert "--dry-run" in result.stderr


DOCS = Path(__file__).parents[2] / "docs"


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_examples_of_reference_page_hold(tmp_path: Path) -> None:
    texts = [text for language, text in blocks_of(DOCS / "reference" / "writing-rules.md") if language == "python"]
    for number, text in enumerate(texts):
        (tmp_path / f"example_{number}.py").write_text(text, encoding="utf-8")
    done = rules("check", "example-*", "--rules-from", tmp_path, "--draws", 60, "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert events_of(done)[-1]["checked"] == len(texts) == 2
