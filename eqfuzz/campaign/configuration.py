"""What a campaign is asked to do: the tables of ``eqfuzz.toml``, checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pydantic
from pydantic import Field

from eqfuzz.campaign.durations import seconds
from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.program.toml_values import toml_value

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class InvalidConfiguration(ValueError):
    """A configuration that cannot be used; ``str()`` is one line: where, what is wrong, what to do."""


class _Table(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class Budget(_Table):
    """When to stop; without any of these a campaign runs until it is stopped."""

    time: Positive | None = Field(default=None, description="wall seconds of this call")
    cpu: Positive | None = Field(default=None, description="CPU seconds of the campaign")
    cells: Count | None = Field(default=None, description="compiled cells of the campaign")
    findings: Count | None = Field(default=None, description="buckets of new findings of the campaign")
    dollars: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="never spend more on the model; ends the campaign where nothing else here does"
    )


class Sources(_Table):
    """Where seed programs come from."""

    seeds: tuple[Path, ...] | None = Field(default=None, description="files and folders; none given: the shipped seeds")
    templates: tuple[str, ...] = Field(default=("mixed",), description="templates of generated programs; [] for none")
    untrusted: bool = Field(default=False, description="every seed runs in the sandbox, not only those that say so")
    unsafe: bool = Field(default=False, description="where there can be no sandbox, run untrusted seeds without")


class Model(_Table):
    """A language model that writes seeds. Nothing is sent anywhere while no name is given."""

    name: str = Field(default="", description="as its server calls it")
    prompts: tuple[str, ...] = Field(default=("basic",), description="in turn; 'all', or files of your own")
    base_url: str = Field(default="", description="an OpenAI-compatible server, http://HOST:PORT/v1; empty: OpenAI's")
    key_env: str = Field(default="", description="environment variable with the key; empty: OPENAI_API_KEY, at OpenAI")
    key_file: Path | None = Field(default=None, description="file with the key")
    price: str = Field(default="", description='dollars for a million tokens, "IN,OUT"; empty: the list price')
    repairs: int = Field(default=2, ge=0, description="rounds in which the model may correct a program")
    max_tokens: int = Field(default=2048, ge=64, description="tokens of an answer at most")
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(default=None, description="none: the server's own")
    timeout: Positive = Field(default=120.0, description="wall seconds for one attempt at a question")
    attempts: Count = Field(default=5, description="attempts for a question, where the server fails")
    targets: tuple[str, ...] = Field(default=(), description="white-box: parts of the compiler, as in 'lowering:*'")
    program_timeout: Positive = Field(default=10.0, description="wall seconds to load a program, and to run it")


class RewriteSettings(_Table):
    """How seeds become variants."""

    strategy: Literal["random", "each", "all", "none"] = Field(default="random", description="how sites are chosen")
    depth: Count = Field(default=4, description="rewrites per variant at most")
    variants: int = Field(default=4, ge=0, description="variants per seed")
    rules: str = Field(default="", description='families and names, as in "shapes/*,-shapes/flip*"; empty: all')
    rules_from: tuple[Path, ...] = Field(default=(), description="files of your own rules")


class CompileSettings(_Table):
    """How programs are compiled."""

    configs: tuple[str, ...] = Field(default=("inductor", "inductor-dynamic"), description="compile configurations")
    configs_from: Path | None = Field(default=None, description="TOML file with more of them")
    threaded: float = Field(default=0.25, ge=0, le=1, description="share of seeds compiled for several threads too")
    devices: tuple[Literal["cpu", "cuda"], ...] = Field(default=("cpu",), description="devices")
    timeout: Positive = Field(default=90.0, description="wall seconds for one compiled cell")
    runner: Literal["fast", "stock", "spawn"] = Field(
        default="fast", description="fast: kernels of many cells built together"
    )
    preload: Path | None = Field(default=None, description="Python file run in every process that imports torch")


class OracleSettings(_Table):
    """What is compared."""

    check: tuple[str, ...] = Field(default=(), description="checks besides the usual ones")
    no_check: tuple[str, ...] = Field(default=(), description="checks left out")
    steps: int = Field(default=1, ge=0, description="changes of size, dtype, flags … that an original is called on")
    input_sets: int = Field(default=2, ge=0, description="input sets of a seed that are used; 0: all")
    known_issues: tuple[Path, ...] = Field(default=(), description="files of known issues besides the shipped one")


class Feedback(_Table):
    """What steers."""

    enabled: bool = Field(default=True, description="false: everything is chosen uniformly")
    epoch: Count = Field(default=16, description="seeds after which is learnt")
    traced: float = Field(default=0.1, ge=0, le=1, description="share of seeds whose lines of the compiler are traced")
    cost: Literal["cpu", "cells"] = Field(
        default="cpu", description="what yield is measured by; cells: the same on any machine"
    )


class Configuration(_Table):
    """Everything that decides what a campaign does; the same configuration and version give the same programs."""

    seed: int = Field(default=0, description="decides every random choice")
    budget: Budget = Budget()
    sources: Sources = Sources()
    model: Model = Model()
    rewriting: RewriteSettings = RewriteSettings()
    compiling: CompileSettings = CompileSettings()
    judging: OracleSettings = OracleSettings()
    feedback: Feedback = Feedback()

    @property
    def has_untrusted(self) -> bool:
        """Whether seeds are sure to be untrusted; files may be besides."""
        return self.sources.untrusted or bool(self.model.name)

    def lasting(self) -> dict[str, Any]:
        """What must be the same when a campaign is gone on with, as JSON: not budgets, nor how a model is reached."""
        reached = {"base_url", "key_env", "key_file", "price", "timeout", "attempts"}
        return self.model_dump(mode="json", exclude={"budget": True, "model": reached})


def read_configuration(path: Path) -> Configuration:
    """The configuration in the TOML file at ``path``; its paths are relative to it. Raises InvalidConfiguration."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidConfiguration(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidConfiguration(f"{path}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidConfiguration(f"{path}: not valid TOML: {error}") from None
    return from_tables(given, str(path), path.parent)


def from_tables(given: Mapping[str, Any], place: str, folder: Path = Path()) -> Configuration:
    """A configuration from the tables ``given``, which ``place`` names in messages. Raises InvalidConfiguration."""
    try:
        found = Configuration.model_validate(_with_seconds(given, place))
    except pydantic.ValidationError as error:
        raise InvalidConfiguration(f"{place}: {_explained(error.errors()[0])}") from None
    return _anchored(found, folder)


def changed(base: Configuration, changes: Mapping[str, Mapping[str, Any]], place: str) -> Configuration:
    """``base`` with some entries of its tables replaced; those of ``""`` are top-level. Raises InvalidConfiguration."""
    tables = base.model_dump()
    for table, entries in changes.items():
        into = tables[table] if table else tables
        into.update(entries)
    return from_tables(tables, place)


def completed(lasting: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an earlier version has kept as ``lasting``, with the defaults of what it did not know."""
    try:
        return Configuration.model_validate(lasting).lasting()
    except pydantic.ValidationError:
        return lasting


def differences(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> list[str]:
    """``table.entry`` of everything that differs."""
    found: list[str] = []
    for key in sorted({*before, *now}):
        old, new = before.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += differences(old, new, f"{prefix}{key}.")
        elif old != new:
            found.append(f"{prefix}{key}")
    return found


def commented() -> str:
    """A configuration file with every entry, its default and what it means."""
    lines = [
        "# `eqfuzz campaign` reads ./eqfuzz.toml, or what --file names. What is commented out here is the default.",
        *_entries(Configuration),
    ]
    for name, field in Configuration.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, _Table):
            table = field.annotation
            lines += ["", f"# {(table.__doc__ or '').strip()}", f"[{name}]", *_entries(table)]
    return "\n".join(lines) + "\n"


def _entries(table: type[_Table]) -> Iterable[str]:
    for name, field in table.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, _Table):
            continue
        choices = _choices(field.annotation)
        yield f"# {field.description}" + (f" ({', '.join(choices)})" if choices else "")
        yield f"# {name} = {'...' if field.default is None else toml_value(field.default)}"


def _choices(annotation: Any) -> list[str]:
    if getattr(annotation, "__origin__", None) is Literal:
        return [str(value) for value in get_args(annotation)]
    return []


_TIMES = (
    ("budget", "time"),
    ("budget", "cpu"),
    ("compiling", "timeout"),
    ("model", "timeout"),
    ("model", "program_timeout"),
)


def _with_seconds(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Durations may be written as ``"90s"``, ``"10m"``, ``"1h30m"``."""
    tables = {key: dict(value) if isinstance(value, Mapping) else value for key, value in given.items()}
    for table, entry in _TIMES:
        inner = tables.get(table)
        if isinstance(inner, dict) and isinstance(inner.get(entry), str):
            try:
                inner[entry] = seconds(inner[entry])
            except ValueError as error:
                raise InvalidConfiguration(f"{place}: {table}.{entry}: {error}") from None
    return tables


def _explained(error: Mapping[str, Any]) -> str:
    location = [str(part) for part in error["loc"]]
    where = ".".join(location)
    if error["type"] == "extra_forbidden":
        known = _known(location[:-1])
        return f"{where}: unknown key{did_you_mean(location[-1], known)}; known: {', '.join(known)}"
    return f"{where}: {error['msg'][:1].lower()}{error['msg'][1:]}, not {error['input']!r}"


def _known(tables: Iterable[str]) -> list[str]:
    model: Any = Configuration
    for name in tables:
        model = model.model_fields[name].annotation
    return list(model.model_fields)


def _anchored(found: Configuration, folder: Path) -> Configuration:
    """Relative paths made relative to the working folder, where those of the file are relative to ``folder``."""

    def at(path: Path) -> Path:
        return path if path.is_absolute() else folder / path

    def all_at(paths: Iterable[Path]) -> tuple[Path, ...]:
        return tuple(at(path) for path in paths)

    sources, rewriting, compiling, judging = found.sources, found.rewriting, found.compiling, found.judging
    prompts = tuple(str(at(Path(name))) if "/" in name or "." in name else name for name in found.model.prompts)
    model = {"prompts": prompts, "key_file": found.model.key_file and at(found.model.key_file)}
    seeds = None if sources.seeds is None else all_at(sources.seeds)
    files = {
        "configs_from": compiling.configs_from and at(compiling.configs_from),
        "preload": compiling.preload and at(compiling.preload),
    }
    return found.model_copy(
        update={
            "sources": sources.model_copy(update={"seeds": seeds}),
            "model": found.model.model_copy(update=model),
            "rewriting": rewriting.model_copy(update={"rules_from": all_at(rewriting.rules_from)}),
            "compiling": compiling.model_copy(update=files),
            "judging": judging.model_copy(update={"known_issues": all_at(judging.known_issues)}),
        }
    )
