"""Buckets: the findings of a run folder by defect, in ``buckets.json``, with merges and splits by the user."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pydantic

from eqfuzz.atomic_file import write_atomically
from eqfuzz.errors import one_line
from eqfuzz.triage.findings.finding import Finding

KEPT = 5
"""How many findings of a bucket keep their folders; further ones are only counted."""

_FILE = "buckets.json"


class Bucket(pydantic.BaseModel):
    """``members`` are the ids of findings with a folder, ``dropped`` those of further ones."""

    fingerprint: str
    members: list[str] = []
    dropped: list[str] = []

    @property
    def count(self) -> int:
        return len(self.members) + len(self.dropped)


class _State(pydantic.BaseModel):
    """``merged`` maps a bucket's id to another's, ``split`` a finding's id to the bucket that it has alone."""

    buckets: dict[str, Bucket] = {}
    merged: dict[str, str] = {}
    split: dict[str, str] = {}


class Buckets:
    """The buckets of the run folder ``out``. Raises ValueError where its file cannot be read."""

    def __init__(self, out: Path) -> None:
        self._file = out / _FILE
        try:
            self._state = self._read()
        except OSError as error:
            raise ValueError(f"{self._file}: cannot be read: {error.strerror}") from None

    @property
    def all(self) -> dict[str, Bucket]:
        """By id, the largest first."""
        return dict(sorted(self._state.buckets.items(), key=lambda item: (-item[1].count, item[0])))

    def of(self, finding: Finding) -> str:
        """The id of the bucket that ``finding`` belongs to."""
        return self._of(finding.id, finding.fingerprint)

    def add(self, finding: Finding) -> bool:
        """Put it into its bucket; False where that has enough members, so that the finding needs no folder."""
        with self._changing():
            name = self.of(finding)
            bucket = self._state.buckets.setdefault(name, Bucket(fingerprint=finding.fingerprint))
            is_kept = finding.id in bucket.members or len(bucket.members) < KEPT
            rightly = bucket.members if is_kept else bucket.dropped
            for ids in (ids for other in self._state.buckets.values() for ids in (other.members, other.dropped)):
                if ids is not rightly and finding.id in ids:
                    ids.remove(finding.id)
            if finding.id not in rightly:
                rightly.append(finding.id)
            self._state.buckets = {key: other for key, other in self._state.buckets.items() if other.count}
        return is_kept

    def merge(self, into: str, other: str) -> None:
        """Add ``other`` with its present and future findings to ``into``. Raises KeyError for an unknown bucket."""
        with self._changing():
            target, source = self._state.buckets[into], self._state.buckets[other]
            if into == other:
                return
            target.members += [name for name in source.members if name not in target.members]
            target.dropped += [name for name in source.dropped if name not in target.dropped]
            del self._state.buckets[other]
            self._state.merged = {k: into if v == other else v for k, v in self._state.merged.items()} | {other: into}

    def split(self, finding: Finding) -> str:
        """Give ``finding`` a bucket of its own for good; returns its id. Raises KeyError where it is in no bucket."""
        with self._changing():
            old = self._state.buckets[self.of(finding)]
            if finding.id not in old.members:
                raise KeyError(finding.id)
            old.members.remove(finding.id)
            name = bucket_id(f"{finding.fingerprint} {finding.id}")
            self._state.split[finding.id] = name
            self._state.merged.pop(name, None)
            self._state.buckets[name] = Bucket(fingerprint=finding.fingerprint, members=[finding.id])
            self._state.buckets = {key: bucket for key, bucket in self._state.buckets.items() if bucket.count}
        return name

    def _of(self, finding: str, fingerprint: str) -> str:
        name = self._state.split.get(finding) or bucket_id(fingerprint)
        return self._state.merged.get(name, name)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Read the state anew, let the block change it, and write it, while other processes wait."""
        from filelock import FileLock  # here: listings change nothing

        self._file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._file.with_name(f".{_FILE}.lock")):
            self._state = self._read()
            yield
            self._write()

    def _read(self) -> _State:
        """Raises OSError, and ValueError for what is damaged."""
        if not self._file.exists():
            return _State()
        try:
            return _State.model_validate_json(self._file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{self._file}: cannot be read: {one_line(str(error))}") from None

    def _write(self) -> None:
        write_atomically(self._file, json.dumps(self._state.model_dump(), indent=2) + "\n")


def bucket_id(fingerprint: str) -> str:
    """Eight characters, ``b`` and seven hex digits: the same in every run."""
    return "b" + hashlib.sha256(fingerprint.encode()).hexdigest()[:7]
