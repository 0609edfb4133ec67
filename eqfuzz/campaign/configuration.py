"""Configuration of a campaign: the tables of ``eqfuzz.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pydantic
from pydantic import Field

from eqfuzz.campaign.durations import seconds
from eqfuzz.generate.catalogues.messages import CATALOGUES, Catalogue
from eqfuzz.mutate.settings import CompileSettings, Count, OracleSettings, Positive, RewriteSettings, Table
from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.program.toml_values import toml_value


class InvalidConfiguration(ValueError):
    """The configuration cannot be used; ``str()`` is one line: where, what is wrong, what to do."""


class Budget(Table):
    """When to stop; without any of these a campaign runs until it is stopped."""

    time: Positive | None = Field(default=None, description="wall seconds of this call")
    cpu: Positive | None = Field(default=None, description="CPU seconds of the campaign")
    cells: Count | None = Field(default=None, description="compiled cells of the campaign")
    findings: Count | None = Field(default=None, description="buckets of new findings of the campaign")
    dollars: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="never spend more on the model; ends the campaign where nothing else here does"
    )


class Sources(Table):
    """Where seed programs come from."""

    seeds: tuple[Path, ...] | None = Field(default=None, description="files and folders; none given: the shipped seeds")
    templates: tuple[str, ...] = Field(default=("mixed",), description="templates of generated programs; [] for none")
    operators: Annotated[int, Field(ge=4)] = Field(
        default=24, description="about so many operators in a program of a shipped template; templates may have fewer"
    )
    catalogues: tuple[Catalogue, ...] | None = Field(
        default=None,
        description="what PyTorch's own tests call, and calls that eager refuses; none given: all beside the shipped"
        " seeds, none beside others",
    )
    untrusted: bool = Field(default=False, description="every seed runs in the sandbox, not only those that say so")
    unsafe: bool = Field(default=False, description="where there can be no sandbox, run untrusted seeds without")

    def drawn_catalogues(self) -> tuple[Catalogue, ...]:
        """The chosen ones, or those of a campaign that chooses none."""
        if self.catalogues is not None:
            return self.catalogues
        return CATALOGUES if self.seeds is None else ()


class Model(Table):
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


CODE, GRAPHS, FIRST_GRAPHS = "code", "graphs", "first-graphs"
Tier = Literal["first-graphs", "graphs", "code"]

USUAL_CONFIGS = ("inductor", "inductor-dynamic")
"""Compile configurations of a campaign that names none."""


class CampaignCompileSettings(CompileSettings):
    """How programs are compiled."""

    configs: tuple[str, ...] = Field(
        default=(),
        description="compile configurations; none: those of configs_from, else inductor, inductor-dynamic"
        " and for seeds that name some theirs",
    )
    configs_from: Path | None = Field(default=None, description="TOML file with more of them")
    tiers: tuple[Tier, ...] = Field(
        default=get_args(Tier),
        min_length=1,
        description="how far items are compiled, one of these each; graphs: to code only where graphs are wrong;"
        " first-graphs: the same of the first input set of the seed, without variants",
    )
    timeout: Positive = Field(
        default=30.0,
        description="seconds for one compiled cell, without those in which it waits for a processor; one that takes"
        " longer hangs if it does not end in a fresh process either, which has more",
    )
    threaded: float = Field(default=0.25, ge=0, le=1, description="share of seeds compiled for several threads too")


class CampaignOracleSettings(OracleSettings):
    """What is compared."""

    check: tuple[str, ...] = Field(default=(), description="checks besides the usual ones")
    no_check: tuple[str, ...] = Field(default=(), description="checks left out")
    input_sets: int = Field(default=2, ge=0, description="input sets of a seed that are used; 0: all")
    known_issues: tuple[Path, ...] = Field(default=(), description="files of known issues besides the shipped one")


class FeedbackSettings(Table):
    """How feedback steers the campaign."""

    enabled: bool = Field(default=True, description="false: everything is chosen uniformly")
    epoch: Count = Field(default=16, description="seeds per epoch; feedback is updated after each")
    traced: float = Field(default=0.1, ge=0, le=1, description="share of seeds whose lines of the compiler are traced")
    cost: Literal["cpu", "cells"] = Field(
        default="cpu", description="what reward is divided by; cells: the same on any machine"
    )


class Configuration(Table):
    """Everything that a campaign does depends on this; with the same version it gives the same programs."""

    seed: int = Field(default=0, description="decides every random choice")
    budget: Budget = Budget()
    sources: Sources = Sources()
    model: Model = Model()
    rewriting: RewriteSettings = RewriteSettings()
    compiling: CampaignCompileSettings = CampaignCompileSettings()
    judging: CampaignOracleSettings = CampaignOracleSettings()
    feedback: FeedbackSettings = FeedbackSettings()

    @property
    def has_untrusted(self) -> bool:
        """Whether there are untrusted seeds besides files that are marked so."""
        return self.sources.untrusted or bool(self.model.name)

    def lasting(self) -> dict[str, Any]:
        """The settings that a resumed campaign may not change, as JSON: without budgets and access to the model."""
        access = {"base_url", "key_env", "key_file", "price", "timeout", "attempts"}
        return self.model_dump(mode="json", exclude={"budget": True, "model": access})


def read_configuration(path: Path) -> Configuration:
    """The configuration in the TOML file at ``path``; its paths are relative to it. Raises InvalidConfiguration."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidConfiguration(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidConfiguration(f"{path}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidConfiguration(f"{path}: not valid TOML: {error}") from None
    return from_tables(tables, str(path), path.parent)


def from_tables(tables: Mapping[str, Any], place: str, folder: Path = Path()) -> Configuration:
    """The configuration in ``tables``, which messages call ``place``. Raises InvalidConfiguration."""
    try:
        configuration = Configuration.model_validate(_with_seconds(tables, place))
    except pydantic.ValidationError as error:
        raise InvalidConfiguration(f"{place}: {_explained(error.errors()[0])}") from None
    return _anchored(configuration, folder)


def changed(base: Configuration, changes: Mapping[str, Mapping[str, Any]], place: str) -> Configuration:
    """``base`` with changed entries by table; ``""`` has top-level ones. Raises InvalidConfiguration."""
    tables = base.model_dump()
    for table, entries in changes.items():
        (tables[table] if table else tables).update(entries)
    return from_tables(tables, place)


def completed(lasting: Mapping[str, Any]) -> Mapping[str, Any]:
    """Stored ``lasting`` settings of an earlier version, with defaults for entries that it did not have."""
    try:
        return Configuration.model_validate(lasting).lasting()
    except pydantic.ValidationError:
        return lasting


def differences(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> list[str]:
    """``table.entry`` of every difference."""
    names: list[str] = []
    for key in sorted({*before, *now}):
        old, new = before.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names += differences(old, new, f"{prefix}{key}.")
        elif old != new:
            names.append(f"{prefix}{key}")
    return names


def commented() -> str:
    """A configuration file with the default and a description of every entry."""
    lines = [
        "# `eqfuzz campaign` reads ./eqfuzz.toml, or what --file names. Commented entries show the defaults.",
        *_entries(Configuration),
    ]
    for name, field in Configuration.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Table):
            table = field.annotation
            lines += ["", f"# {(table.__doc__ or '').strip()}", f"[{name}]", *_entries(table)]
    return "\n".join(lines) + "\n"


def _entries(table: type[Table]) -> Iterable[str]:
    for name, field in table.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Table):
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


def _with_seconds(configuration: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Durations may be written as ``"90s"``, ``"10m"``, ``"1h30m"``."""
    tables = {key: dict(value) if isinstance(value, Mapping) else value for key, value in configuration.items()}
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
        names = _entry_names(location[:-1])
        return f"{where}: unknown key{did_you_mean(location[-1], names)}; known: {', '.join(names)}"
    return f"{where}: {error['msg'][:1].lower()}{error['msg'][1:]}, not {error['input']!r}"


def _entry_names(tables: Iterable[str]) -> list[str]:
    model: Any = Configuration
    for name in tables:
        model = model.model_fields[name].annotation
    return list(model.model_fields)


def _anchored(configuration: Configuration, folder: Path) -> Configuration:
    """``configuration`` with paths relative to the working folder instead of relative to ``folder``."""

    def at(path: Path) -> Path:
        return path if path.is_absolute() else folder / path

    def all_at(paths: Iterable[Path]) -> tuple[Path, ...]:
        return tuple(at(path) for path in paths)

    sources, model = configuration.sources, configuration.model
    rewriting, compiling, judging = configuration.rewriting, configuration.compiling, configuration.judging
    prompts = tuple(str(at(Path(name))) if "/" in name or "." in name else name for name in model.prompts)
    model_files = {"prompts": prompts, "key_file": model.key_file and at(model.key_file)}
    seeds = None if sources.seeds is None else all_at(sources.seeds)
    files = {
        "configs_from": compiling.configs_from and at(compiling.configs_from),
        "preload": compiling.preload and at(compiling.preload),
    }
    return configuration.model_copy(
        update={
            "sources": sources.model_copy(update={"seeds": seeds}),
            "model": model.model_copy(update=model_files),
            "rewriting": rewriting.model_copy(update={"rules_from": all_at(rewriting.rules_from)}),
            "compiling": compiling.model_copy(update=files),
            "judging": judging.model_copy(update={"known_issues": all_at(judging.known_issues)}),
        }
    )
