"""A finding's folder: everything a maintainer needs; only what is known of it later is added."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from eqfuzz.atomic_file import new_folder, write_atomically
from eqfuzz.triage.findings.finding import Finding

_RECORDS = ("derivation", "verdict", "environment")
_TEXTS = ("repro.py", "original.py", "variant.py", *(f"{name}.json" for name in _RECORDS))
_UNREDUCED = "unreduced"


def write_folder(findings: Path, finding: Finding, reproducer: str, preload: Path | None) -> Path:
    """``findings/<id>/`` with its files, moved into place whole; an existing folder is left as it is."""
    target = findings / finding.id
    if target.exists():
        return target
    findings.mkdir(parents=True, exist_ok=True)
    with new_folder(target) as folder:
        _write(folder, finding, reproducer)
        if preload is not None:
            shutil.copyfile(preload, folder / "preload.py")
    return target


def put_reduced(folder: Path, finding: Finding, reproducer: str) -> None:
    """Put the reduced ``finding`` in the place of what ``folder`` holds; what the run saw stays in ``unreduced/``."""
    first = folder / _UNREDUCED
    if not first.exists():
        with new_folder(first) as copy:
            for name in (*_TEXTS, "finding.json", "preload.py"):
                if (folder / name).exists():
                    shutil.copyfile(folder / name, copy / name)
    (folder / "issue.md").unlink(missing_ok=True)  # it is about the larger program
    _write(folder, finding, reproducer)


def _write(folder: Path, finding: Finding, reproducer: str) -> None:
    whole = finding.to_json()
    records = {f"{name}.json": json.dumps(whole[name], indent=2) + "\n" for name in _RECORDS}
    sources = {"original.py": finding.original.source, "variant.py": finding.transformed.source}
    for name, text in {"repro.py": reproducer, **sources, **records}.items():
        (folder / name).write_text(text, encoding="utf-8")
    keep(folder, finding)


def keep(folder: Path, finding: Finding) -> None:
    """Write down what has become known of it since its folder was made: ``finding.json`` takes the place of the old."""
    write_atomically(folder / "finding.json", json.dumps(finding.to_json(), indent=2) + "\n")


def read_finding(folder: Path) -> Finding:
    """The finding in ``folder``. Raises OSError or ValueError when it is not one."""
    return Finding.from_json(json.loads((folder / "finding.json").read_text(encoding="utf-8")))


def is_untrusted(folder: Path) -> bool:
    """Whether the finding in ``folder`` is of an untrusted seed, or nobody can tell; not with a reproducer alone."""
    try:
        original = json.loads((folder / "finding.json").read_text(encoding="utf-8"))["original"]
        return bool(original.get("untrusted", False))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True


def preload_in(folder: Path) -> Path | None:
    """The preload that the finding in ``folder`` was made under."""
    preload = folder / "preload.py"
    return preload.resolve() if preload.exists() else None


def flaky_folder(folder: Path) -> Path:
    """Where a finding goes that did not reproduce: ``flaky/<id>`` beside ``findings/``."""
    target = folder.parent.parent / "flaky" / folder.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(folder)
    else:
        folder.rename(target)
    return target
