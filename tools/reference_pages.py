"""Reference pages made from declarations: ``python -m tools.reference_pages``.

Writes every page of ``PAGES`` below ``docs/reference``; ``--check`` only compares.

Exit codes: 0 written or up to date, 1 ``--check`` and out of date, 2 bad usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import eqfuzz
from eqfuzz.campaign.configuration import commented
from eqfuzz.errors import UsageError
from eqfuzz.events.model_check import UseChecked
from eqfuzz.generate.dag.catalogue import docs_page
from eqfuzz.pytest_plugin import OPTIONS
from eqfuzz.report.rules.listing import TAGS, survival_of, tags_of
from eqfuzz.rewrite.rules.declarations import RuleDeclaration, shipped_declarations
from tools import cli_reference

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"

_RULES = """\
# Rules

{count:,} rules in {families} families: `python -m tools.reference_pages` reads their declarations in `rewrites/`.
`eqfuzz rules show NAME` prints a rule with its equation, its preconditions and an example;
[working with the library](../how-to/rules.md) has more commands. In the table:

| column | content |
|---|---|
| exactness | how closely both sides agree: `bitwise`, `ulp` (up to a few roundings), `real` (over the real numbers) |
| depth | the last stage of the compiler at which both sides differ ([levels](survival.md)) |
| tags | {tags} |

A name that ends with `_back` is an equation applied from right to left.
"""

_PYTHON = """\
# Python and pytest

The names that `eqfuzz` has, from their docstrings, made by `python -m tools.reference_pages`.
[Check models from Python and pytest](../how-to/python.md) shows how to use them.
"""

_PYTEST = """\
## The plugin of pytest

pytest loads it where eqfuzz is installed. Each option is `--eqfuzz-NAME` on the command line, `eqfuzz_NAME` in the ini
file, and `NAME` in the marker of a test, `@pytest.mark.eqfuzz(NAME=…)`. The marker takes precedence over the command
line, and that over the ini file; `config` and `backend` exclude each other.
"""

_SETTINGS = """\
# Settings of campaigns

`eqfuzz campaign` reads `eqfuzz.toml` in the current folder, or what `--file` names; `eqfuzz campaign --init` writes it.
[Options](cli.md#eqfuzz-campaign) override it for one call. Durations are seconds or texts such as `"10m"`, paths are
relative to the file. These are all entries with their defaults, made by `python -m tools.reference_pages`:
"""

_SECTION = re.compile(r"^(Args|Raises|Attributes):\n((?:[ ]+[^\n]*\n?|\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^ {4}(\w+): ", re.MULTILINE)


def rules_page() -> str:
    """Every shipped rule, by family."""
    rules = shipped_declarations()
    tags = "; ".join(f"`{name}` ({meaning})" for name, meaning in TAGS.items())
    parts = [_RULES.format(count=len(rules), families=len({rule.family for rule in rules}), tags=tags)]
    for family, members in itertools.groupby(rules, key=lambda rule: rule.family):
        header = ["| rule | what it says | exactness | depth | tags |", "|---|---|---|---|---|"]
        parts.append("\n".join([f"## {family}\n", *header, *map(_rule_row, members), ""]))
    return "\n".join(parts)


def python_page() -> str:
    """The public names of the package, and the options of the plugin."""
    parts = [_PYTHON]
    for name in ("check", "assert_equivalent"):
        function = getattr(eqfuzz, name)
        parts += [f"## eqfuzz.{name}", _signature(name, function), *_documented(function)]
    parts += ["## eqfuzz.Report", *_documented(eqfuzz.Report), _properties(eqfuzz.Report)]
    rows = [(f"`{name}`", text) for name, text in _field_texts(UseChecked)]
    parts += ["### Entries of `uses`", _table(("attribute", "meaning"), rows)]
    for exception in (eqfuzz.NotEquivalent, UsageError):
        bases = ", ".join(base.__name__ for base in exception.__bases__)
        parts += [f"## eqfuzz.{exception.__name__}", f"Exception, a kind of {bases}.", *_documented(exception)]
    rows = [(f"`{name}`", text) for name, (_, _, text) in OPTIONS.items()]
    parts += [_PYTEST.rstrip(), _table(("option", "meaning"), rows)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def settings_page() -> str:
    """The commented file that ``eqfuzz campaign --init`` writes."""
    return f"{_SETTINGS}\n```toml\n{commented()}```\n"


PAGES: dict[str, Callable[[], str]] = {
    "campaign-settings.md": settings_page,
    "cli.md": cli_reference.render,
    "operators.md": docs_page.page,
    "python.md": python_page,
    "rules.md": rules_page,
}


def _rule_row(rule: RuleDeclaration) -> str:
    says = _markdown(rule.doc.partition("\n\n")[0])
    name = rule.name.partition("/")[2]
    return _row([f"`{name}`", says, str(rule.exact), survival_of(rule) or "", ", ".join(tags_of(rule))])


def _signature(name: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    lines: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(lines):
            lines.append("*")
        lines.append(str(parameter).replace("'", ""))
    body = "".join(f"    {line},\n" for line in lines)
    return f"```python\ndef {name}(\n{body}) -> {signature.return_annotation!s}: ...\n```"


def _documented(thing: Any) -> Iterator[str]:
    """The docstring of a function or class, its sections as tables."""
    text = inspect.cleandoc(thing.__doc__ or "")
    sections = {match[1]: match[2] for match in _SECTION.finditer(text + "\n")}
    yield _markdown(_SECTION.sub("", text + "\n").strip())
    headers = {"Args": "argument", "Attributes": "attribute", "Raises": "raises"}
    for title, body in sections.items():
        pieces = _FIELD.split(body)[1:]
        rows = [(f"`{name}`", meaning) for name, meaning in zip(pieces[::2], pieces[1::2], strict=True)]
        yield _table((headers[title], "meaning"), rows)


def _properties(record: type) -> str:
    members = [(name, value) for name, value in vars(record).items() if isinstance(value, property)]
    return _table(("property", "meaning"), [(f"`{name}`", inspect.getdoc(value) or "") for name, value in members])


def _field_texts(record: type) -> Iterator[tuple[str, str]]:
    """The fields of a record with the strings below them."""
    source = inspect.getsource(record)
    for field in dataclasses.fields(record):
        match = re.search(rf'^    {field.name}: [^\n]+\n    """(.*?)"""', source, re.DOTALL | re.MULTILINE)
        if match is not None:
            yield field.name, " ".join(match[1].split())


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([_row(header), "|" + "---|" * len(header), *(_row(list(map(_markdown, row))) for row in rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _markdown(text: str) -> str:
    """Text of a docstring, whose code is between two backquotes, on as many lines as it has paragraphs."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs).strip().replace("``", "`")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.reference_pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the pages instead of writing them")
    check: bool = parser.parse_args(arguments).check
    outdated = []
    for name, render in PAGES.items():
        page, file = render(), FOLDER / name
        if not file.is_file() or file.read_text(encoding="utf-8") != page:
            outdated.append(name)
            if not check:
                file.write_text(page, encoding="utf-8")
    if check and outdated:
        print(f"out of date: {', '.join(outdated)}: run python -m tools.reference_pages", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
