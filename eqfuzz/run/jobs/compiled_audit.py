"""The local audit under a compile configuration."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.oracle.audit.local_audit import Audit, audit
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.several_threads import several_threads


def require_inductor(config: Config) -> None:
    """Raises ValueError where ``config`` compiles with something else than Inductor."""
    if config.backend != "inductor":
        raise ValueError(
            f"only what Inductor compiles can be audited, and {config.name} compiles with {config.backend}"
        )


def audit_calls(loaded: Loaded, calls: Sequence[Call], seed: int, config: Config) -> Audit:
    """The audit of a loaded program on the given calls. Raises ValueError like ``require_inductor``."""
    require_inductor(config)
    with several_threads(config.threads), config.patched():
        return audit(
            loaded.instance,
            calls,
            mode=config.mode,
            options=config.options,
            dynamic=config.dynamic,
            fullgraph=config.fullgraph,
            seed=seed,
        )
