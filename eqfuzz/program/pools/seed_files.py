"""Files of seeds: those that are named, and all below folders."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.errors import UsageError


def seed_files(paths: Sequence[Path]) -> list[Path]:
    """Files, and all Python files below folders, each once; see ``quick_first``. Raises UsageError."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [p for p in path.rglob("*.py") if "__pycache__" not in p.parts]
            if not inside:
                raise UsageError(f"{path}: no Python files in this folder")
            files += quick_first(inside)
        elif path.exists():
            files.append(path)
        else:
            raise UsageError(f"{path}: no such file or folder")
    return list(dict.fromkeys(files))


def quick_first(files: Sequence[Path]) -> list[Path]:
    """``files`` in turn from each folder, the smallest of a folder first.

    So that a run that ends early has tried something of every folder, and shows its first results soon.
    """
    by_folder: dict[Path, list[Path]] = {}
    for file in sorted(files, key=lambda file: (file.stat().st_size, file)):
        by_folder.setdefault(file.parent, []).append(file)
    turns = itertools.zip_longest(*(by_folder[folder] for folder in sorted(by_folder)))
    return [file for turn in turns for file in turn if file is not None]
