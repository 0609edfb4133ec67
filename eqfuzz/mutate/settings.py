"""Settings of a run over seeds, in the tables that campaigns have in their configuration too."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.run.configs.named import DEFAULT_CONFIG, GUARD_STEPS, Config
from eqfuzz.run.environment import Environment
from eqfuzz.triage.findings.known_issues import SHIPPED

DeviceName = Literal["cpu", "cuda"]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Table(pydantic.BaseModel):
    """Settings that belong together; a table of ``eqfuzz.toml``."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class RewriteSettings(Table):
    """How seeds become variants."""

    strategy: Literal["random", "each", "all", "none"] = Field(default="random", description="how sites are chosen")
    depth: Count = Field(default=4, description="rewrites per variant at most")
    variants: int = Field(default=4, ge=0, description="variants per seed")
    rules: str = Field(default="", description='families and names, as in "shapes/*,-shapes/flip*"; empty: all')
    rules_from: tuple[Path, ...] = Field(default=(), description="files of your own rules")


class CompileSettings(Table):
    """How programs are compiled."""

    threaded: float = Field(default=0.0, ge=0, le=1, description="share of seeds compiled for several threads too")
    devices: tuple[DeviceName, ...] = Field(default=("cpu",), description="devices")
    timeout: Positive = Field(default=90.0, description="wall seconds for one compiled cell")
    runner: Literal["fast", "stock", "spawn"] = Field(
        default="fast", description="fast: kernels of many cells built together"
    )
    preload: Path | None = Field(default=None, description="Python file run in every process that imports torch")

    @property
    def uses_cuda(self) -> bool:
        return "cuda" in self.devices


class OracleSettings(Table):
    """What is compared."""

    steps: int = Field(default=1, ge=0, description="changes of size, dtype, flags … that an original is called on")
    input_sets: int = Field(default=0, ge=0, description="input sets of a seed that are used; 0: all")


DEFAULT_REWRITING = RewriteSettings(strategy="each", variants=5)
"""Unlike a campaign, a run has each seed once: each site is rewritten."""

DEFAULT_COMPILING = CompileSettings()
DEFAULT_JUDGING = OracleSettings()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that a run over seeds does depends on these; ``seed`` alone decides every random choice."""

    out: Path
    """Folder of everything that the run writes."""
    paths: tuple[Path, ...] = ()
    """Seed files, and folders of them."""
    seed: int = 0
    jobs: int = 1
    """Seeds run at once."""
    time: float | None = None
    """Wall seconds after which the run ends; None: when all seeds are done."""
    rewriting: RewriteSettings = DEFAULT_REWRITING
    """How variants are made."""
    unrewritten: frozenset[Path] = frozenset()
    """Seeds of ``paths`` that have no variants, whatever ``rewriting`` says."""
    compiling: CompileSettings = DEFAULT_COMPILING
    """Where and how cells are compiled, whatever their configuration."""
    judging: OracleSettings = DEFAULT_JUDGING
    """How cells are judged."""
    configs: tuple[Config, ...] = (DEFAULT_CONFIG,)
    """The compile configurations; those that a seed names take their place."""
    seed_configs: Mapping[str, Config] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    """Configurations by name that a seed may name in place of ``configs``; empty where the user named some."""
    checks: tuple[str, ...] = DEFAULT_CHECKS
    """Names of the checks, from ``eqfuzz.oracle.compare.checks``."""
    known_issues: tuple[Path, ...] = (SHIPPED,)
    """Files of known issues, whose findings are counted apart."""
    untrusted: bool = False
    """Whether every seed runs in the sandbox, not only seeds that are marked as untrusted."""
    unsafe: bool = False
    """Whether untrusted seeds run without a sandbox where none is available."""
    dry_run: bool = False
    """Whether variants run in eager only."""
    diff: bool = False
    """With ``dry_run``: whether sites and variants are listed, and no variant is run."""
    keep_variants: Path | None = None
    """Folder for the variants that agree in eager."""
    favoured: tuple[str, ...] = ()
    """Families of rules that random derivations draw from more often."""
    guard_steps: int = GUARD_STEPS
    """Changes that the cell of the original without kernels is called on; 0: no such cell."""
    own_random: bool = True
    """Whether an original that draws random numbers has a cell with the random numbers of the compiler."""
    judged: frozenset[tuple[str, str]] = frozenset()
    """Cells of originals that are not run, as the name of the seed and of the configuration."""
    baseline: str = ""
    """Name of a configuration: a symptom that it exhibits too is its finding, not one of each configuration."""
    known_symptoms: frozenset[tuple[str, ...]] = frozenset()
    """Symptoms of originals (``Cell.symptom``) that were confirmed before and are no findings again."""
    signals: bool = False
    """Whether cells report their features."""
    traced: bool = False
    """Whether the executed lines of the compiler are reported."""
    graphs_first: bool = False
    """Whether code is compiled only where graphs differ from eager."""

    def environment(self) -> Environment:
        """The environment of the run's processes."""
        preload = self.compiling.preload
        return Environment(
            self.out.resolve(),
            preload.resolve() if preload else None,
            shown=tuple(path.absolute() for path in self.rewriting.rules_from),
            unsafe=self.unsafe,
        )
