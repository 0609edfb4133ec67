"""Finding folders: the files of a finding, written atomically."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

from eqfuzz.atomic_file import new_folder, write_atomically
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script_files import ISSUE, SCRIPT, TEST_FUNCTION, UNIT_TEST, VALUES, ReproducerScript
from eqfuzz.triage.reproducer.weights_beside import copy_weights, with_weights_in

_RECORDS = ("derivation", "verdict", "environment")
_TEXTS = (SCRIPT, VALUES, "original.py", "variant.py", *(f"{name}.json" for name in _RECORDS))
_UNREDUCED = "unreduced"


def write_folder(findings: Path, finding: Finding, reproducer: ReproducerScript, preload: Path | None) -> Path:
    """Write ``findings/<id>/``, complete or not at all; an existing folder is left as it is. Returns its path."""
    target = findings / finding.id
    if target.exists():
        return target
    findings.mkdir(parents=True, exist_ok=True)
    with new_folder(target) as folder:
        _write(folder, finding, reproducer)
        copy_weights(finding.original, folder)
        if preload is not None:
            shutil.copyfile(preload, folder / "preload.py")
    return target


def put_reduced(folder: Path, finding: Finding, reproducer: ReproducerScript) -> None:
    """Replace the finding in ``folder`` by the reduced one; the run's own stays in ``unreduced/``."""
    first = folder / _UNREDUCED
    if not first.exists():
        with new_folder(first) as copy:
            for name in (*_TEXTS, "finding.json", "preload.py"):
                if (folder / name).exists():
                    shutil.copyfile(folder / name, copy / name)
    for name in (ISSUE, TEST_FUNCTION, UNIT_TEST):  # they are about the larger program
        (folder / name).unlink(missing_ok=True)
    _write(folder, finding, reproducer)


def _write(folder: Path, finding: Finding, reproducer: ReproducerScript) -> None:
    whole = finding.to_json()
    records = {f"{name}.json": json.dumps(whole[name], indent=2) + "\n" for name in _RECORDS}
    sources = {"original.py": finding.original.source, "variant.py": finding.transformed.source}
    reproducer.write(folder)
    for name, text in {**sources, **records}.items():
        (folder / name).write_text(text, encoding="utf-8")
    update_finding(folder, finding)


def update_finding(folder: Path, finding: Finding) -> None:
    """Replace ``finding.json``, with results that came after the folder was written."""
    write_atomically(folder / "finding.json", json.dumps(finding.to_json(), indent=2) + "\n")


def read_finding(folder: Path) -> Finding:
    """The finding in ``folder``, with the weights there. Raises OSError or ValueError when it is not one."""
    finding = Finding.from_json(json.loads((folder / "finding.json").read_text(encoding="utf-8")))
    original, transformed = (with_weights_in(folder, one) for one in (finding.original, finding.transformed))
    return dataclasses.replace(finding, original=original, transformed=transformed)


def is_untrusted(folder: Path) -> bool:
    """Whether the finding in ``folder`` is of an untrusted seed, or unreadable; False for a reproducer alone."""
    try:
        original = json.loads((folder / "finding.json").read_text(encoding="utf-8"))["original"]
        return bool(original.get("untrusted", False))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True


def preload_in(folder: Path) -> Path | None:
    """The preload of the run that made the finding in ``folder``; None without one."""
    preload = folder / "preload.py"
    return preload.resolve() if preload.exists() else None


def flaky_folder(folder: Path) -> Path:
    """Move a finding that did not reproduce to ``flaky/<id>`` beside ``findings/``. Returns its new path."""
    target = folder.parent.parent / "flaky" / folder.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(folder)
    else:
        folder.rename(target)
    return target
