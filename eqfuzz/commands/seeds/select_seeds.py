"""Selection of ``eqfuzz seeds select``: the structure of each seed is read, then a pool takes its share."""

from __future__ import annotations

import filecmp
import itertools
import os
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.commands.seeds.each_seed import answer_of, each_seed
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Handler
from eqfuzz.events.seeds import SeedsSelected, SeedsSummary, SeedStructureRead
from eqfuzz.program.formats import read_program
from eqfuzz.program.pools.selector import SeedPool, select
from eqfuzz.run.messages.structure_jobs import StructureJob
from eqfuzz.run.processes.pool import Pool


def select_seeds(
    paths: Sequence[Path],
    pool: SeedPool,
    handler: Handler,
    *,
    out: Path | None = None,
    seed: int,
    jobs: int,
    unsafe: bool = False,
) -> SeedsSummary:
    """Select seeds, copy them with their weights into the folder ``out``, and hand every event to ``handler``.

    Files that are no seeds are in no pool. After Ctrl-C nothing is selected. The last event is returned. Raises
    UsageError where a copy would overwrite another file, OSError, and RunnerFailed when no process can be started.
    """
    structures: dict[Path, SeedStructureRead] = {}

    def read(index: int, path: Path, pool: Pool) -> SeedStructureRead:
        _, answer = answer_of(path, lambda program: StructureJob(program=program, seed=seed), pool)
        if isinstance(answer, str):
            return SeedStructureRead(index=index, path=str(path), problem=answer)
        structures[path] = event = SeedStructureRead(index=index, path=str(path), structure=answer.structure)
        return event

    summary = each_seed(paths, handler, read, jobs=jobs, unsafe=unsafe)
    if not summary.interrupted:
        ordered = [path for path in paths if path in structures]
        chosen = select([structures[path].structure for path in ordered], pool)
        selected = [ordered[position] for position in chosen]
        if out is not None:
            _copy(selected, out)
        handler(SeedsSelected(pool=pool.name, paths=[str(path) for path in selected], out=str(out or "")))
    handler(summary)
    return summary


def _copy(paths: Sequence[Path], out: Path) -> None:
    """Copy seeds and their weights; files of one name keep their folders. Raises UsageError before overwriting one."""
    copies = copies_of([path.absolute() for path in paths], out)
    for copy, file in copies.items():
        if copy.exists() and not filecmp.cmp(file, copy, shallow=False):
            raise UsageError(f"--out: {copy} is another file than {file}; choose another folder")
    out.mkdir(parents=True, exist_ok=True)
    for copy, file in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            shutil.copyfile(file, copy)


def copies_of(paths: Sequence[Path], out: Path) -> dict[Path, Path]:
    """Every file by the path of its copy. A seed reads its weights from its own folder."""
    files = {path: (path, *([Path(weights)] if (weights := read_program(path).weights) else [])) for path in paths}
    of_name: defaultdict[str, set[Path]] = defaultdict(set)
    for file in itertools.chain.from_iterable(files.values()):
        of_name[file.name].add(file.resolve())
    top = os.path.commonpath([path.parent for path in paths]) if paths else ""
    copies: dict[Path, Path] = {}
    for path, own in files.items():
        is_alone = all(len(of_name[file.name]) == 1 for file in own)
        folder = out if is_alone else out / path.parent.relative_to(top)
        copies |= {folder / file.name: file for file in own}
    return copies
