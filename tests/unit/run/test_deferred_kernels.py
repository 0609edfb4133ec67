"""Kernels built together are what torch builds alone."""

import pytest
import torch
from torch._inductor import codecache

from eqfuzz.run.kernels.deferred import Built, Kernel
from eqfuzz.run.kernels.translation_unit import build, translation_unit

WITHOUT_PRECOMPILED = getattr(codecache, "cpp_prefix", None)
INCLUDE = WITHOUT_PRECOMPILED() if WITHOUT_PRECOMPILED else "#include <torch/csrc/inductor/cpp_prefix.h>"
"""Torch's header: in 2.6 a copy in its cache folder."""

HELPER = "static inline float twice(float x) { return 2 * x; }"


def kernel(body: str, *, helper: str = "") -> Kernel:
    source = f'\n{INCLUDE}\n{helper}\nextern "C"  void  kernel(const float* in_ptr0, float* out_ptr0)\n{{\n{body}\n}}\n'
    return Kernel(("const float*", "float*"), source)


def test_each_header_is_included_once_before_all_kernels() -> None:
    lines = translation_unit([kernel("out_ptr0[0] = 1;"), kernel("out_ptr0[0] = 2;")]).splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    assert len(includes) == len(set(includes))
    assert includes[0] == INCLUDE
    assert all(lines.index(line) < lines.index("namespace unit_0 {") for line in includes)


def test_only_equal_kernels_have_equal_keys() -> None:
    keys = [kernel("out_ptr0[0] = 1;").key, kernel("out_ptr0[0] = 1;").key, kernel("out_ptr0[0] = 2;").key]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.slow
def test_kernels_of_one_unit_have_separate_helpers_and_exceptions() -> None:
    kernels = [
        kernel("out_ptr0[0] = twice(in_ptr0[0]);", helper=HELPER),
        kernel("out_ptr0[0] = twice(in_ptr0[0]) + 1;", helper=HELPER.replace("2 *", "3 *")),
        kernel('throw std::out_of_range("index 7 is out of bounds");'),
    ]
    doubled, tripled, throwing = (built.load() for built in build(kernels))
    x, out = torch.tensor([5.0]), torch.zeros(1)
    doubled(x, out)
    assert out.item() == 10
    tripled(x, out)
    assert out.item() == 16
    with pytest.raises(RuntimeError, match="index 7 is out of bounds"):
        throwing(x, out)
    with pytest.raises(RuntimeError, match="requires 2 args"):
        doubled(x)


@pytest.mark.slow
def test_unit_that_does_not_compile_raises_the_message_of_the_compiler() -> None:
    with pytest.raises(Exception, match="no_such_function"):
        build([kernel("out_ptr0[0] = 1;"), kernel("no_such_function();")])


def test_missing_library_is_an_import_error() -> None:
    with pytest.raises(ImportError):
        Built("/nowhere/unit.so", "kernels_0").load()
