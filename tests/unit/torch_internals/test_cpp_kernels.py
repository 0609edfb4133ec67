"""C++ kernels are left out, and what is built appears when it is complete."""

from pathlib import Path

import pytest
import torch

from eqfuzz.torch_internals.cpp_kernels import kernels_left_out, write_builds_atomically
from eqfuzz.torch_internals.dynamo import forget_compiled_code


def test_builds_appear_complete_or_not_at_all(tmp_path, monkeypatch):
    from torch._inductor import cpp_builder

    seen = []

    def compile_half(command, cwd):
        making = command.split(" -o ")[1].split()[0]
        Path(making).write_text("half")
        seen.append((target.exists(), making))
        if len(seen) == 1:
            raise RuntimeError("no room")

    source = tmp_path / "a.cpp"
    source.write_text("int answer() { return 42; }\n")
    monkeypatch.setattr(cpp_builder.CppBuilder, "build", cpp_builder.CppBuilder.build)
    monkeypatch.setattr(cpp_builder, "run_compile_cmd", compile_half)
    write_builds_atomically()
    options = cpp_builder.CppOptions()
    builder = cpp_builder.CppBuilder("a", str(source), options, str(tmp_path))
    target = Path(builder.get_target_file_path())
    command = builder.get_command_line()
    with pytest.raises(RuntimeError, match="no room"):
        builder.build()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.cpp"]
    builder.build()
    assert [there for there, _ in seen] == [False, False]
    assert target.read_text() == "half"
    assert builder.get_command_line() == command


@pytest.mark.slow
def test_kernels_are_left_out_and_built_again_afterwards():
    def triple(x):
        return x * 3

    forget_compiled_code()
    with kernels_left_out():
        torch.compile(triple)(torch.ones(2))
    forget_compiled_code()
    assert torch.compile(triple)(torch.ones(2)).tolist() == [3.0, 3.0]
