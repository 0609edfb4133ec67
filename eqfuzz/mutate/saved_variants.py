"""Variants saved as seed files, a corpus for later runs."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.program.provenance import UNKNOWN, Provenance, provenance_of, split_provenance

_SEED, _RULES = "# A variant of ", "# Rewritten by "


def keep_variant(
    folder: Path, seed: str, source: str, rules: Sequence[str], weights: str = "", *, untrusted: bool = False
) -> Path:
    """Write ``source`` to ``folder`` under a name of the seed and a digest, with a header, see ``text_of_variant``.

    ``weights`` is the path of the file with the seed's weights, which is copied; empty: it has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if weights and not (folder / Path(weights).name).exists():
        shutil.copyfile(weights, folder / Path(weights).name)
    path = folder / f"{Path(seed).stem}-{hashlib.sha256(source.encode()).hexdigest()[:10]}.py"
    path.write_text(text_of_variant(seed, source, rules, untrusted=untrusted), encoding="utf-8")
    return path


def text_of_variant(seed: str, source: str, rules: Sequence[str], *, untrusted: bool = False) -> str:
    """``source`` as a seed file, with a header that names the seed and the rules.

    The provenance of the seed stays at the top; a variant of an ``untrusted`` seed is marked as untrusted.
    """
    block, rest = split_provenance(source)
    if untrusted:
        provenance = provenance_of(source)
        block, rest = Provenance(UNKNOWN, configs=provenance.configs if provenance else ()).header(), source
    return f"{block}{_SEED}{seed}\n{_RULES}{', '.join(rules)}\n{rest}"


def kept_rules(path: Path) -> list[str]:
    """The rules in the header of the saved variant at ``path``; none for other seeds."""
    _, text = split_provenance(path.read_text(encoding="utf-8"))
    first, second, *_ = [*text.split("\n", 2), "", ""]
    if not (first.startswith(_SEED) and second.startswith(_RULES)):
        return []
    return second.removeprefix(_RULES).split(", ")
