"""Compile configurations by name: the arguments of ``torch.compile`` and the options of the compiler."""

from __future__ import annotations

import contextlib
import importlib.util
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pydantic

from eqfuzz.program.release import this_release
from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.rewrite.graphs.graph_step import GraphStep, draw_steps, graph_declarations
from eqfuzz.run.configs.fusions import FUSIONS_SINCE, fusion_options
from eqfuzz.torch_internals.bisector import switched_off
from eqfuzz.torch_internals.embedded.foreign_environments import FOREIGN, foreign_python
from eqfuzz.torch_internals.embedded.texts import server_text
from eqfuzz.torch_internals.options import config_module, patched, values_of

MUTATED = "mutated"
"""Stands for configurations that a campaign mutates, and begins their names."""

MOST_THREADS = 64
MOST_GRAPH_STEPS = 100

_LONGEST_VALUE = 60

EXPORTING = ("export", "aot_inductor", *FOREIGN)
"""Backends that are no part of torch."""

SMALL_LOOPS = "cpp.min_chunk_size"
"""Iterations per thread from which Inductor splits a loop: 512 by default, which few programs of a fuzzer have."""

_ONLY_IN_SOURCE = frozenset({SMALL_LOOPS, *fusion_options()})
"""Inductor options that change the source of a kernel but not how it is built."""


class Config(pydantic.BaseModel):
    """One compile configuration.

    Attributes:
        name: As in ``--config``.
        backend: Argument of ``torch.compile``, like ``mode``, ``fullgraph``, ``dynamic`` and ``options``.
        mode: See ``backend``.
        fullgraph: See ``backend``.
        dynamic: See ``backend``.
        options: See ``backend``.
        dynamo: Options of ``torch._dynamo.config`` for the cell.
        inductor: Options of ``torch._inductor.config`` for the cell.
        without: A part of the compiler that is switched off, as torch's bisector does it: subsystem and detail.
        threads: Threads of the cell, in eager and compiled, see ``several_threads``.
        graph: Rewrites of the compiler's graphs.
        graph_steps: How many more of them are drawn for each program.
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
    threads: int = pydantic.Field(default=1, ge=1, le=MOST_THREADS)
    graph: tuple[GraphStep, ...] = ()
    graph_steps: int = pydantic.Field(default=0, ge=0, le=MOST_GRAPH_STEPS)

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of ``torch.compile`` that differ from its defaults."""
        arguments: dict[str, Any] = {}
        for key in ("backend", "mode", "fullgraph", "dynamic", "options"):
            value = getattr(self, key)
            if value != type(self).model_fields[key].default and value != {}:
                arguments[key] = value
        return arguments

    @property
    def is_exporting(self) -> bool:
        """Whether its backend is eqfuzz's own and goes through ``torch.export``."""
        return self.backend in EXPORTING

    def compile(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """``torch.compile(target)`` under this configuration; call it within ``patched()``."""
        import torch

        if self.backend in FOREIGN:
            from eqfuzz.torch_internals.embedded.foreign_backends import register_foreign_backends

            register_foreign_backends(server_text())
        elif self.is_exporting:
            from eqfuzz.torch_internals.embedded.exporting_backends import register_exporting_backends

            register_exporting_backends()
        return torch.compile(target, **self.arguments())

    def on(self, backend: str) -> Config:
        """The same with another backend, named after it, without the settings that only Inductor has."""
        only_inductor = {"mode": None, "options": {}, "inductor": {}, "without": None, "graph": (), "graph_steps": 0}
        return self.model_copy(update={"name": backend, "backend": backend, **only_inductor})

    def drawn_for(self, key: str) -> Config:
        """The same with its random rewrites of graphs drawn; equal for equal keys."""
        if not self.graph_steps:
            return self
        steps = draw_steps(random.Random(f"{key} graphs {self.name}"), self.graph_steps)
        return self.model_copy(update={"graph": (*self.graph, *steps), "graph_steps": 0})

    def with_threads(self, count: int) -> Config:
        """The same with ``count`` threads, small loops split too, under the name ``NAME@COUNT``."""
        options = {SMALL_LOOPS: 1, **self.inductor} if self.backend == "inductor" else self.inductor
        return self.model_copy(update={"name": f"{self.name}@{count}", "threads": count, "inductor": options})

    def with_one_thread(self) -> Config:
        """The same with one thread: the inverse of ``with_threads``."""
        options = {name: value for name, value in self.inductor.items() if name != SMALL_LOOPS}
        return self.model_copy(update={"name": one_thread(self.name), "threads": 1, "inductor": options})

    @property
    def shares_kernels(self) -> bool:
        """Whether it generates C++ kernels that are built with the default options."""
        options = self.inductor.keys() - _ONLY_IN_SOURCE
        return self.backend == "inductor" and not (self.mode or self.options or options or self.without)

    @property
    def needs_process(self) -> bool:
        """Whether its cells run in processes of their own where kernels of several cells are built together.

        With several threads they must: the process that forks them must be able to fork the next. So must all of
        Inductor, kernels shared or not: an option may kill the process.
        """
        return self.backend == "inductor" or self.threads > 1

    @property
    def draws_as_eager(self) -> bool:
        """Whether compiled programs draw the same random numbers as eager."""
        return self.backend != "inductor" or self.inductor.get("fallback_random", True)

    @property
    def in_words(self) -> str:
        """What it sets, as Python: ``mode='max-autotune', dynamo.verbose=True``; ``torch's defaults`` for nothing.

        Of long dictionaries only how many entries they have.
        """
        values = [f"{key}={value!r}" for key, value in self.arguments().items()]
        for module in ("dynamo", "inductor"):
            values += [f"{module}.{key}={_short(value)}" for key, value in getattr(self, module).items()]
        if self.threads > 1:
            values.append(f"threads={self.threads}")
        values += [str(step) for step in self.graph]
        if self.graph_steps:
            values.append(f"{self.graph_steps} random rewrites of graphs")
        return ", ".join(values) or "torch's defaults"

    @contextlib.contextmanager
    def patched(self) -> Iterator[None]:
        """Context with the compiler options of this configuration.

        ``fallback_random`` is on unless the configuration says otherwise, so that compiled programs draw the numbers
        that eager ones draw. The number of threads is set as an option because torch's caches ignore it before 2.15.
        """
        inductor = {"fallback_random": True, **self.inductor}
        if self.threads > 1:
            inductor = {"cpp.threads": self.threads, **inductor}
        off = switched_off(*self.without) if self.without else contextlib.nullcontext()
        with off, patched(dynamo=self.dynamo, inductor=inductor), self._rewritten():
            yield

    def _rewritten(self) -> contextlib.AbstractContextManager[Any]:
        if not self.graph:
            return contextlib.nullcontext()
        from eqfuzz.rewrite.graphs.applied_steps import applied_steps  # here: it imports torch, and listings do not

        return applied_steps(self.graph)


def _short(value: Any) -> str:
    text = repr(value)
    return f"{{{len(value)} entries}}" if isinstance(value, dict) and len(text) > _LONGEST_VALUE else text


_TABLES = pydantic.TypeAdapter(dict[str, dict[str, Any]])

_SCALARS = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}

_SHIPPED = (
    (Config(name="inductor"), "what torch.compile does by itself; the default"),
    (Config(name="inductor-dynamic", dynamic=True), "one graph for all sizes: symbolic shapes from the first call on"),
    (Config(name="inductor-static", dynamic=False), "a graph for each size"),
    (Config(name="inductor-fullgraph", fullgraph=True), "a graph break is an error: what the tracer must support"),
    (Config(name="inductor-scalar-outputs", dynamo=_SCALARS), "item() and nonzero() without a graph break"),
    (
        Config(name="inductor-torchfuzz", fullgraph=True, dynamic=True, dynamo=_SCALARS),
        "as TorchFuzz compiles: one graph, symbolic shapes, item() and nonzero() in it",
    ),
    (Config(name="inductor-reduce-overhead", mode="reduce-overhead"), "CUDA graphs; on the CPU the same as inductor"),
    (Config(name="inductor-max-autotune", mode="max-autotune"), "kernels chosen by measuring; CUDA graphs too"),
    (
        Config(name="inductor-max-autotune-no-cudagraphs", mode="max-autotune-no-cudagraphs"),
        "kernels chosen by measuring",
    ),
    (Config(name="inductor-cpp-wrapper", inductor={"cpp_wrapper": True}), "kernels called from C++, not from Python"),
    (
        Config(name="inductor-fusions", inductor=fusion_options()),
        "splits and cats merged, equal small operators batched: passes that are off by default",
    ),
    (
        Config(name="inductor-graphs", graph_steps=12),
        "its graphs rewritten by random rules before and after its passes",
    ),
    (Config(name="aot_eager", backend="aot_eager"), "Dynamo and AOTAutograd without code generation"),
    (
        Config(name="aot_eager_decomp_partition", backend="aot_eager_decomp_partition"),
        "these with Inductor's decompositions and partitioner",
    ),
    (Config(name="eager", backend="eager"), "Dynamo alone"),
    (
        Config(name="export", backend="export", dynamic=False),
        "AOTAutograd's graphs through torch.export and its decompositions",
    ),
    (
        Config(name="aot_inductor", backend="aot_inductor", dynamic=False),
        "these compiled ahead of time; many CPU seconds for each graph",
    ),
    *(
        (Config(name=name, backend=name, dynamic=False), f"AOTAutograd's graphs as ONNX, in {title}")
        for name, title in (("onnxruntime", "ONNX Runtime"), ("openvino", "OpenVINO"), ("tvm_relax", "TVM"))
    ),
)
BUILT_IN = {config.name: config for config, _ in _SHIPPED}
DEFAULT_CONFIG = BUILT_IN["inductor"]

GUARDS = Config(name="guards", backend="aot_eager")
"""For originals only, with more changes that a guard must notice: no kernel is built, so each costs little."""

GUARD_STEPS = 5
"""Under ``GUARDS``; few enough that, with the seed's inputs, Dynamo does not reach its recompile limit."""

OWN_RANDOM = Config(name="own-random", inductor={"fallback_random": False})
"""For originals that draw random numbers: as users compile, with Inductor's own numbers; values are not judged."""

OF_ORIGINALS = {config.name: config for config in (GUARDS, OWN_RANDOM)}

PURPOSES = {config.name: purpose for config, purpose in _SHIPPED}
"""What each built-in configuration is for, by name."""


def one_thread(name: str) -> str:
    """``NAME`` for ``NAME@COUNT``; any other name unchanged."""
    plain, mark, count = name.rpartition("@")
    return plain if mark and count.isdecimal() else name


def find(name: str, configs: Mapping[str, Config]) -> Config | None:
    """The configuration of this name, also ``NAME@COUNT`` for ``NAME`` with several threads; None if there is none."""
    plain, count = one_thread(name), name.rpartition("@")[2]
    if name in configs:
        return configs[name]
    if plain == name or plain not in configs or not 2 <= int(count) <= MOST_THREADS:
        return None
    return configs[plain].with_threads(int(count))


def in_words(configs: Mapping[str, Config]) -> str:
    """Every name that ``find`` accepts."""
    return f"{', '.join(configs)}; each with @2 to @{MOST_THREADS} for so many threads"


def known_configs(file: Path | None) -> dict[str, Config]:
    """The built-in configurations by name, and those of ``file``. Raises ValueError like ``read_configs``."""
    return dict(BUILT_IN) if file is None else read_configs(file)


def choose(names: Sequence[str], configs: Mapping[str, Config]) -> tuple[Config, ...]:
    """The configurations of these names, or ``all`` that can run; without a name those of the file, else the default.

    Raises ValueError with a suggestion and the known names, or with what a configuration lacks.
    """
    if "all" in names:
        return tuple(config for config in configs.values() if not lacks(config))
    if not names:
        added = [config for name, config in configs.items() if config != BUILT_IN.get(name)]
        return tuple(added) or (DEFAULT_CONFIG,)
    chosen = {name: find(name, configs) for name in names}
    for name, config in chosen.items():
        if config is None:
            hint = did_you_mean(name, list(configs))
            raise ValueError(f"no configuration {name!r}{hint}; known: {in_words(configs)}")
        lack = lacks(config)
        if lack:
            hint = "; make backends installs it" if config.backend in FOREIGN else ""
            raise ValueError(f"configuration {name}: {lack}{hint}")
    return tuple(config for config in chosen.values() if config is not None)


def lacks(config: Config) -> str:
    """What it needs and this machine has not; empty where it can run."""
    if fusion_options().items() <= config.inductor.items() and not this_release().fits(f">={FUSIONS_SINCE}"):
        return f"its passes are those of torch {FUSIONS_SINCE} and later"
    if config.backend not in FOREIGN:
        return ""
    for package in ("onnx", "onnxscript"):
        if importlib.util.find_spec(package) is None:
            return f"the package {package} is not installed beside torch"
    python = foreign_python(config.backend)
    return "" if python.is_file() else f"{config.backend} is not installed: there is no {python}"


def open_to_seeds(names: Sequence[str], configs: Mapping[str, Config]) -> dict[str, Config]:
    """The ``configs`` that seeds may name for themselves: none where the user chose some, by ``names`` or by a file."""
    return {} if names or configs != BUILT_IN else dict(configs)


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
        raise ValueError(f"{path}: configs.{taken}: this name is reserved by eqfuzz; choose another name")
    for config in added.values():
        unknown = _unknown_option(config)
        if unknown:
            raise ValueError(f"{path}: configs.{config.name}: this torch has no option {unknown}")
        rules = [one.name for one in graph_declarations()] if config.graph else []
        for step in config.graph:
            if step.rule not in rules:
                hint = did_you_mean(step.rule, rules)
                raise ValueError(f"{path}: configs.{config.name}.graph: no rule {step.rule!r} in rewrites/graphs{hint}")
    return BUILT_IN | added


def _unknown_option(config: Config) -> str:
    """The first option that torch's config modules do not have, with its module; empty if there is none."""
    for name in ("dynamo", "inductor"):
        options = values_of(config_module(name))
        for option in getattr(config, name):
            if option not in options:
                return f"{name}.{option}"
    return ""
