"""Reference page of the command line, made from the verbs' own declarations: ``python -m tools.cli_reference``.

Writes ``docs/reference/cli.md``; ``--check`` only compares. Reads the declarations (functions and ``Annotated``
options), not Typer's output, so that the page does not depend on Typer's version.

Exit codes: 0 written or up to date, 1 ``--check`` and out of date, 2 bad usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"

INTRODUCTION = """\
# Command line

Made by `python -m tools.cli_reference` from the options' own declarations: change those, not this page.
`eqfuzz VERB --help` prints the same text.

## Exit codes

| code | meaning |
|---|---|
| 0 | nothing found, or the verb did its job |
| 1 | findings, or the answer is no (`rules check`: a rule does not hold; `replay`: still failing) |
| 2 | usage or bad input: one line on stderr; also a run in which no seed was valid |
| 3 | internal error: one line on stderr names the file with the traceback; also a broken installation |
| 130 | interrupted (Ctrl-C, SIGTERM), after the partial summary |

## Values

| in usage lines | is |
|---|---|
| `TIME` | seconds, or a number with a unit: `90`, `90s`, `10m`, `1h30m` |
| `SELECTION` | patterns of `family/name`, with commas; a leading `-` removes rules: `'shapes/*,-shapes/flip*'` |
| `--config NAME` | a [name](configurations.md), several with commas, or `all`; `NAME@3` compiles for three threads |
| `ID` | the id of a finding, or its first characters |

A file for `--configs-from`:

```toml
[configs.max-autotune]
mode = "max-autotune"

[configs.no-fusion]
dynamic = true
inductor = { max_fusion_size = 1 }
```
"""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One argument or option as the page shows it. ``usage`` is what stands for an argument in the usage line."""

    written: str
    default: str
    meaning: str
    usage: str = ""


@dataclasses.dataclass(frozen=True)
class Verb:
    """A verb by its full name (``eqfuzz rules show``), with its documentation and parameters."""

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    is_group: bool = False

    def markdown(self) -> str:
        arguments = [parameter.usage for parameter in self.parameters if parameter.usage]
        usage = " ".join([self.name, "[OPTIONS]", *arguments, *(["VERB …"] if self.is_group else [])])
        parts = [f"## {self.name}", f"```\n{usage}\n```", self.doc]
        if self.parameters:
            rows = [f"| `{_cell(p.written)}` | {p.default} | {_cell(p.meaning)} |" for p in self.parameters]
            parts.append("\n".join(["| argument or option | default | meaning |", "|---|---|---|", *rows]))
        return "\n\n".join(parts)


def render() -> str:
    """The whole page."""
    from eqfuzz.cli.app import app

    listed = list(verbs(app, "eqfuzz"))
    contents = "\n".join(f"- [`{verb.name}`](#{verb.name.replace(' ', '-')}) {_first(verb.doc)}" for verb in listed)
    return "\n\n".join([INTRODUCTION.rstrip(), f"## Verbs\n\n{contents}", *(verb.markdown() for verb in listed)]) + "\n"


def verbs(app: typer.Typer, name: str) -> Iterator[Verb]:
    """Every verb below ``app``, depth first; groups with options of their own are verbs too."""
    for command in app.registered_commands:
        assert command.callback is not None
        yield Verb(f"{name} {command.name}", _doc(command.callback), tuple(parameters(command.callback)))
    for group in app.registered_groups:
        inner = group.typer_instance
        assert inner is not None
        callback = inner.registered_callback.callback if inner.registered_callback is not None else None
        own = tuple(parameters(callback)) if callback is not None else ()
        if own:
            assert callback is not None
            yield Verb(f"{name} {group.name}", _doc(callback), own, is_group=True)
        yield from verbs(inner, f"{name} {group.name}")


def parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    """Arguments and options of a verb's function, in its order."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        value_type, *extras = get_args(hints[name]) if get_origin(hints[name]) is not None else (hints[name],)
        for info in extras:
            if isinstance(info, ArgumentInfo):
                yield _argument(name, value_type, info, parameter.default)
            elif isinstance(info, OptionInfo):
                yield _option(name, value_type, info, parameter.default)


def _argument(name: str, value_type: Any, info: ArgumentInfo, default: Any) -> Parameter:
    plain, is_list = _plain_type(value_type)
    metavar = (info.metavar or _type_text(plain) or name.upper()).strip("[].")
    usage = metavar + ("..." if is_list else "")
    required = default is inspect.Parameter.empty
    text, meaning = _default(default, info.help or "")
    return Parameter(metavar, text, meaning, usage=usage if required else f"[{usage}]")


def _option(name: str, value_type: Any, info: OptionInfo, default: Any) -> Parameter:
    plain, _ = _plain_type(value_type)
    declared = ", ".join(info.param_decls or (f"--{name.replace('_', '-')}",)).replace("/", " / ")
    value = "" if plain is bool else f" {info.metavar or _type_text(plain) or 'VALUE'}"
    text, meaning = _default(default, info.help or "")
    if default is inspect.Parameter.empty:
        text = "required"
    return Parameter(f"{declared}{value}", text, meaning)


def _plain_type(value_type: Any) -> tuple[Any, bool]:
    """The type without ``None`` and ``list``, and whether it was a list."""
    if get_origin(value_type) in (Union, types.UnionType):
        (value_type,) = (one for one in get_args(value_type) if one is not type(None))
    if get_origin(value_type) is list:
        return get_args(value_type)[0], True
    return value_type, False


def _type_text(plain: Any) -> str:
    if isinstance(plain, type) and issubclass(plain, enum.Enum):
        return "|".join(str(member.value) for member in plain)
    return {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}.get(plain, "")


def _default(default: Any, meaning: str) -> tuple[str, str]:
    """The cell of the default, and the help without what says it in words: ``… (default: one per core).``"""
    in_words = re.search(r"\s*\(default: ([^()]+)\)", meaning)
    if in_words is not None:
        return in_words[1], meaning.replace(in_words[0], "")
    if default is None or default is False or default == "" or default is inspect.Parameter.empty:
        return "", meaning
    value = default.value if isinstance(default, enum.Enum) else default
    return ("yes" if value is True else f"`{value}`"), meaning


def _doc(function: Callable[..., Any]) -> str:
    return inspect.cleandoc(function.__doc__ or "")


def _first(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.cli_reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the page instead of writing it")
    check: bool = parser.parse_args(arguments).check
    page = render()
    if check:
        is_current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page
        if not is_current:
            print(f"{PAGE.name} is out of date: run python -m tools.cli_reference", file=sys.stderr)
        return 0 if is_current else 1
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
