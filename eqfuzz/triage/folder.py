"""A finding's folder: everything a maintainer needs; only what is known of it later is added."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from eqfuzz.triage.finding import Finding


def write_folder(findings: Path, finding: Finding, reproducer: str, preload: Path | None) -> Path:
    """``findings/<id>/`` with its files, moved into place whole; an existing folder is left as it is."""
    target = findings / finding.id
    if target.exists():
        return target
    findings.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{finding.id}-", dir=findings))
    making.chmod(0o755)
    (making / "repro.py").write_text(reproducer, encoding="utf-8")
    (making / "original.py").write_text(finding.original.source, encoding="utf-8")
    (making / "variant.py").write_text(finding.transformed.source, encoding="utf-8")
    if preload is not None:
        shutil.copyfile(preload, making / "preload.py")
    whole = finding.to_json()
    for name in ("derivation", "verdict", "environment"):
        (making / f"{name}.json").write_text(json.dumps(whole[name], indent=2) + "\n", encoding="utf-8")
    keep(making, finding)
    try:
        making.rename(target)
    except OSError:  # another run wrote the same finding first
        shutil.rmtree(making)
    return target


def keep(folder: Path, finding: Finding) -> None:
    """Write down what has become known of it since its folder was made: ``finding.json`` takes the place of the old."""
    new = folder / ".finding.json"
    new.write_text(json.dumps(finding.to_json(), indent=2) + "\n", encoding="utf-8")
    new.replace(folder / "finding.json")


def read_finding(folder: Path) -> Finding:
    """The finding in ``folder``. Raises OSError or ValueError when it is not one."""
    return Finding.from_json(json.loads((folder / "finding.json").read_text(encoding="utf-8")))


def flaky_folder(folder: Path) -> Path:
    """Where a finding goes that did not reproduce: ``flaky/<id>`` beside ``findings/``."""
    target = folder.parent.parent / "flaky" / folder.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(folder)
    else:
        folder.rename(target)
    return target
