"""What is longest unused goes first, and nothing that is in use."""

import os
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.run.kernels.cache_eviction import prune


def write(folder: Path, name: str, size: int, hours: float) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x" * size)
    used = time.time() - 3600 * hours
    os.utime(file, (used, used))
    return file


def test_oldest_files_are_removed_first(tmp_path):
    old, older, new = (write(tmp_path, f"a/{n}", 100, n) for n in (5, 9, 2))
    assert prune(tmp_path, limit=250) == 100
    assert not older.exists()
    assert old.exists()
    assert new.exists()


def test_recently_used_files_stay(tmp_path):
    fresh, old = write(tmp_path, "fresh", 100, 0.5), write(tmp_path, "old", 100, 2)
    assert prune(tmp_path, limit=0) == 100
    assert fresh.exists()
    assert not old.exists()


def test_links_are_left_and_not_followed(tmp_path):
    outside = write(tmp_path, "outside/file", 100, 9)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "link").symlink_to(outside.parent, target_is_directory=True)
    assert prune(tmp_path / "cache", limit=0) == 0
    assert outside.exists()


def test_nothing_is_removed_from_a_missing_folder(tmp_path):
    assert prune(tmp_path / "none", limit=0) == 0


@given(sizes=st.lists(st.integers(0, 50), max_size=8), limit=st.integers(0, 300))
def test_files_are_evicted_until_the_rest_fits_and_no_more(tmp_path_factory, sizes, limit):
    folder = tmp_path_factory.mktemp("cache")
    files = [write(folder, str(n), size, 2 + n) for n, size in enumerate(sizes)]
    removed = prune(folder, limit=limit)
    left = [file.stat().st_size for file in files if file.exists()]
    assert sum(left) == sum(sizes) - removed <= max(limit, 0)
    evicted = sizes[len(left) :]
    assert sum(evicted) == removed
    assert all(not file.exists() for file in files[len(left) :])
    assert not evicted or sum(left) + evicted[0] > limit
