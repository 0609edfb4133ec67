"""Compile configurations by name: what ``torch.compile`` is called with, and under which compiler options."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pydantic

from eqfuzz.torch_internals.bisector import switched_off
from eqfuzz.torch_internals.options import config_module, patched, values_of


class Config(pydantic.BaseModel):
    """One configuration. ``dynamo`` and ``inductor`` are patched into torch's config modules for the cell.

    ``without`` names a part of the compiler that is switched off, as torch's bisector does it: subsystem and detail.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: str
    backend: str = "inductor"
    mode: str | None = None
    fullgraph: bool = False
    dynamic: bool | None = None
    options: dict[str, Any] = {}
    dynamo: dict[str, Any] = {}
    inductor: dict[str, Any] = {}
    without: tuple[str, str] | None = None

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of ``torch.compile`` that differ from its defaults."""
        given: dict[str, Any] = {}
        for key in ("backend", "mode", "fullgraph", "dynamic", "options"):
            value = getattr(self, key)
            if value != type(self).model_fields[key].default and value != {}:
                given[key] = value
        return given

    def compile(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """``torch.compile(target)`` under this configuration; call it within ``patched()``."""
        import torch

        return torch.compile(target, **self.arguments())

    def on(self, backend: str) -> Config:
        """The same with another backend, which takes the place of the name, and without what only Inductor takes."""
        return self.model_copy(
            update={"name": backend, "backend": backend, "mode": None, "options": {}, "inductor": {}, "without": None}
        )

    @property
    def shares_kernels(self) -> bool:
        """Whether it generates C++ kernels, and with no options of its own that these would have to be built under."""
        return self.backend == "inductor" and not (self.mode or self.options or self.inductor or self.without)

    @property
    def draws_as_eager(self) -> bool:
        """Whether what it compiles draws the random numbers that eager draws."""
        return self.backend != "inductor" or self.inductor.get("fallback_random", True)

    @contextlib.contextmanager
    def patched(self) -> Iterator[None]:
        """The compiler options of this configuration, put back afterwards.

        ``fallback_random`` is on unless the configuration says otherwise, so that compiled programs draw the numbers
        that eager ones draw.
        """
        inductor = {"fallback_random": True, **self.inductor}
        off = switched_off(*self.without) if self.without else contextlib.nullcontext()
        with off, patched(dynamo=self.dynamo, inductor=inductor):
            yield


_TABLES = pydantic.TypeAdapter(dict[str, dict[str, Any]])

BUILT_IN = {
    config.name: config
    for config in (
        Config(name="inductor"),
        Config(name="inductor-dynamic", dynamic=True),
        Config(name="inductor-static", dynamic=False),
        Config(name="inductor-fullgraph", fullgraph=True),
        Config(name="inductor-max-autotune", mode="max-autotune-no-cudagraphs"),
        Config(name="inductor-cpp-wrapper", inductor={"cpp_wrapper": True}),
        Config(
            name="inductor-scalar-outputs",
            dynamo={"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True},
        ),
        Config(name="aot_eager", backend="aot_eager"),
        Config(name="aot_eager_decomp_partition", backend="aot_eager_decomp_partition"),
        Config(name="eager", backend="eager"),
    )
}
DEFAULT_CONFIG = BUILT_IN["inductor"]

GUARDS = Config(name="guards", backend="aot_eager")
"""Of originals only, with more steps that a guard must notice: no kernel is built, so each step costs little."""

GUARD_STEPS = 5
"""Under ``GUARDS``; with the seed's inputs and a step of their own below the limit at which Dynamo stops compiling."""

OWN_RANDOM = Config(name="own-random", inductor={"fallback_random": False})
"""Of originals that draw random numbers only, judged on all but values: as users compile, with numbers of its own."""

OF_ORIGINALS = {config.name: config for config in (GUARDS, OWN_RANDOM)}


def choose(names: Sequence[str], known: dict[str, Config]) -> tuple[Config, ...]:
    """The named configurations. Raises ValueError that lists the known names."""
    unknown = [n for n in names if n not in known]
    if unknown:
        raise ValueError(f"unknown configuration {unknown[0]!r}; known: {', '.join(known)}")
    return tuple(known[n] for n in dict.fromkeys(names))


def read_configs(path: Path) -> dict[str, Config]:
    """The built-in configurations and those of a TOML file with ``[configs.NAME]`` tables.

    Raises ValueError with file and place when the file is not valid.
    """
    try:
        tables = _TABLES.validate_python(tomllib.loads(path.read_text(encoding="utf-8")).get("configs", {}))
        added = {name: Config(**{**table, "name": name}) for name, table in tables.items()}
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {place}: {first['msg']} (known keys: {', '.join(Config.model_fields)})") from None
    taken = next((name for name in added if name in OF_ORIGINALS), None)
    if taken is not None:
        raise ValueError(f"{path}: configs.{taken}: eqfuzz calls a cell of its own so; choose another name")
    for config in added.values():
        unknown = _unknown_option(config)
        if unknown:
            raise ValueError(f"{path}: configs.{config.name}: this torch has no option {unknown}")
    return BUILT_IN | added


def _unknown_option(config: Config) -> str:
    """The first option that torch's config modules do not have, with its module; empty when all are known."""
    for name in ("dynamo", "inductor"):
        known = values_of(config_module(name))
        for option in getattr(config, name):
            if option not in known:
                return f"{name}.{option}"
    return ""
