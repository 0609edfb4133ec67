import os
import signal
import stat
import threading
from pathlib import Path

import pytest

from eqfuzz.atomic_file import new_folder, replacement_of, write_atomically


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize(("content", "expected"), [("é\n", b"\xc3\xa9\n"), (b"\x00\r\n", b"\x00\r\n")])
def test_file_is_created_and_replaced(tmp_path, content, expected, durable):
    path = tmp_path / "state.json"
    for earlier in (None, b"longer than the new content"):
        if earlier is not None:
            path.write_bytes(earlier)
        write_atomically(path, content, durable=durable)
        assert path.read_bytes() == expected
    assert names_in(tmp_path) == ["state.json"]


def test_file_has_ordinary_permissions(tmp_path):
    write_atomically(tmp_path / "atomic", "")
    (tmp_path / "ordinary").write_text("")
    mode, ordinary = ((tmp_path / name).stat().st_mode for name in ("atomic", "ordinary"))
    assert stat.S_IMODE(mode) == stat.S_IMODE(ordinary)


def test_old_file_is_visible_until_the_end_of_the_block(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replacement_of(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".")
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_old_file_stays_when_the_block_raises(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(type(error)), replacement_of(path) as temporary:
        temporary.write_text("half of the n")
        raise error
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["file"]


def test_block_must_create_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), replacement_of(path):
        pass
    assert path.read_text() == "old"


def test_killed_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    child = os.fork()
    if child == 0:
        with replacement_of(path) as temporary:
            temporary.write_text("half of the n")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert path.read_text() == "old"
    write_atomically(path, "new")
    assert path.read_text() == "new"


def test_threads_and_forks_use_different_temporary_files(tmp_path):
    path = tmp_path / "file"
    with replacement_of(path) as first, replacement_of(path) as second:
        assert first != second
        first.write_text("1")
        second.write_text("2")
    read, write = os.pipe()
    child = os.fork()
    with replacement_of(path) as temporary:
        temporary.write_text("")
        if child == 0:
            os.write(write, temporary.name.encode())
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000).decode() != temporary.name
    os.close(read)
    os.close(write)


def test_concurrent_writers_leave_one_complete_file(tmp_path):
    path = tmp_path / "file"
    contents = [letter * 100_000 for letter in "abcd"]

    def write(content):
        for _ in range(20):
            write_atomically(path, content)
            assert path.read_text() in contents

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in contents
    assert names_in(tmp_path) == ["file"]


def test_durable_write_syncs_content_before_and_folder_after_the_rename(tmp_path, monkeypatch):
    path = tmp_path / "file"
    synced = []

    def fsync(descriptor):
        synced.append((str(Path(f"/proc/self/fd/{descriptor}").readlink()), path.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(path, "text")
    assert synced == []
    path.unlink()
    write_atomically(path, "text", durable=True)
    (content, exists_before), (folder, exists_after) = synced
    assert content.startswith(str(tmp_path / ".file-"))
    assert not exists_before
    assert folder == str(tmp_path)
    assert exists_after


def test_folder_appears_with_its_files(tmp_path):
    with new_folder(tmp_path / "folder") as temporary:
        (temporary / "inside").write_text("text")
        assert not (tmp_path / "folder").exists()
    assert (tmp_path / "folder" / "inside").read_text() == "text"
    assert names_in(tmp_path) == ["folder"]


def test_folder_does_not_appear_when_the_block_raises(tmp_path):
    with pytest.raises(OSError, match="disk full"), new_folder(tmp_path / "folder") as temporary:
        (temporary / "inside").write_text("text")
        raise OSError("disk full")
    assert names_in(tmp_path) == []


def test_folder_of_a_faster_process_stays(tmp_path):
    with new_folder(tmp_path / "folder") as temporary:
        (temporary / "slower").write_text("")
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "faster").write_text("")
    assert names_in(tmp_path / "folder") == ["faster"]
    assert names_in(tmp_path) == ["folder"]
