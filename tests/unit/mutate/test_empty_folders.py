"""What a run in which nothing compiles leaves behind."""

from eqfuzz.mutate.run import remove_empty_folders
from eqfuzz.run.environment import Environment


def test_empty_folders_for_caches_are_removed(tmp_path):
    out = tmp_path / "out"
    environment = Environment(out)
    for folder in (environment.cache_dir(), environment.temporary_dir() / "a" / "b"):
        folder.mkdir(parents=True)
    remove_empty_folders(environment)
    assert not out.exists()


def test_folders_with_files_stay(tmp_path):
    out = tmp_path / "out"
    environment = Environment(out)
    environment.cache_dir().mkdir(parents=True)
    environment.temporary_dir().mkdir()
    for file in (out / "variant.py", environment.caches() / "entry"):
        file.write_text("")
    remove_empty_folders(environment)
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*")) == ["cache", "cache/entry", "variant.py"]
