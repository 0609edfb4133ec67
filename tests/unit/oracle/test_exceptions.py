"""Exceptions: the innermost functions of torch in their traceback, and the message of their cause."""

from pathlib import Path

import pytest
import torch

from eqfuzz.oracle.observe.exceptions import describe, innermost_cause
from eqfuzz.oracle.observe.normalised_messages import normalised


def raised(function):
    try:
        function()
    except BaseException as error:
        return describe(error)
    raise AssertionError("nothing was raised")


def in_torch(source, name, file):
    """The object ``name`` that ``source`` defines, compiled as ``file`` in torch's folder."""
    namespace = {}
    exec(compile(source, str(Path(torch.__file__).parent / file), "exec"), namespace)
    return namespace[name]


CHAIN = """
def first(call):
    call()
def second(call):
    first(call)
def third(call):
    second(call)
def fourth(call):
    third(call)
"""


def fail():
    raise ValueError("no")


def test_the_last_functions_of_torch_the_innermost_first():
    fourth = in_torch(CHAIN, "fourth", "_inductor/planted.py")
    innermost = tuple(f"_inductor.planted.{name}" for name in ("first", "second", "third"))
    assert raised(lambda: fourth(fail)).frames == innermost


def test_methods_are_named_with_their_class():
    source = "class Lowering:\n    def run(self, call):\n        call()\n"
    run = in_torch(source, "Lowering", "_inductor/graph.py")().run
    assert raised(lambda: run(fail)).frames == ("_inductor.graph.Lowering.run",)


def test_error_raised_by_torch_has_its_frames():
    frames = raised(lambda: torch.nn.functional.pad(torch.ones(1), (1, 1, 1, 1), mode="nonsense")).frames
    assert frames[0] == "nn.functional.pad"


def test_exception_of_the_program_has_no_frames():
    assert raised(fail).frames == ()


def test_other_packages_whose_name_begins_like_torch_are_not_torch():
    namespace = {}
    exec(compile(CHAIN, f"{Path(torch.__file__).parent}gen/model.py", "exec"), namespace)
    assert raised(lambda: namespace["second"](fail)).frames == ()


def test_the_first_cause_counts():
    inner = in_torch(CHAIN, "first", "_inductor/lowering.py")
    wrapping = """
def wrap(call):
    try:
        call()
    except Exception as error:
        raise RuntimeError("wrapped") from error
"""
    outer = in_torch(wrapping, "wrap", "_dynamo/backend.py")
    observed = raised(lambda: outer(lambda: outer(lambda: inner(fail))))
    assert observed.type == "RuntimeError"
    assert observed.frames[0] == "_inductor.lowering.first"


def test_cause_that_was_never_raised_is_ignored():
    source = "def refuse():\n    raise RuntimeError('no') from ValueError('never raised')\n"
    assert raised(in_torch(source, "refuse", "_dynamo/exc.py")).frames == ("_dynamo.exc.refuse",)


@pytest.mark.timeout(20)
def test_cyclic_causes_terminate():
    def circle():
        first, second = ValueError("first"), ValueError("second")
        for error in (first, second):
            try:
                raise error
            except ValueError:
                pass
        first.__cause__, second.__cause__ = second, first
        raise first

    assert raised(circle).message == "first"


def test_compiler_errors_have_frames_of_the_compiler():
    def backend(graph, inputs):
        raise AssertionError("planted")

    torch._dynamo.reset()
    observed = raised(lambda: torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2)))
    assert observed.origin == "compiler"
    assert any(frame.startswith("_dynamo.") for frame in observed.frames)
    assert observed.frames == raised(lambda: torch.compile(lambda x: x - 1, backend=backend)(torch.ones(5))).frames


COMPILE_ERROR = """\
CppCompileError: C++ compile error

Command:
g++ /tmp/torchinductor_me/ab/cabc.main.cpp -D TORCH_INDUCTOR_CPP_WRAPPER -Wno-error=attributes -o /tmp/x.so

Output:
/tmp/torchinductor_me/ab/cabc.main.cpp: In function 'void kernel(const float*, float*)':
/tmp/torchinductor_me/ab/cabc.main.cpp:{line}:45: error: {words}
   20 |                     auto tmp3 = max_propagate_nan(tmp1, tmp2);
/tmp/torchinductor_me/ab/cabc.main.cpp:31:45: error: another error
"""
UNLIKE_META = """\
expected size {size}, stride 1==8 at dim=0
Error in op: torch.ops.aten.{operator}.default
This error most often comes from a incorrect fake (aka meta) kernel for a custom op.
"""
FAKE = """\
RuntimeError when making fake tensor call
  Explanation: Dynamo failed to run FX node with fake tensors: \
call_{target}(*(FakeTensor(..., size=({size},)), 3), **{{}}): got {error}
  Hint: Dynamo has detected that tracing the code will result in an error when running in eager.

  Developer debug context:
"""


def compile_error(words, line=20):
    return COMPILE_ERROR.format(words=words, line=line)


def unlike_meta(operator, size="3==4"):
    return UNLIKE_META.format(operator=operator, size=size)


def fake(target, error="RuntimeError('no kernel of 3')", size=5):
    return FAKE.format(target=target, error=error, size=size)


CAT = "function <built-in method cat of type object at 0x7f01>"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (compile_error("'tmp7' was not declared in this scope"), "tmp7 was not declared in this scope"),
        (
            compile_error(
                "no match for ‘operator*’ (operand types are ‘Vectorized<long int>’ and ‘VecMask<float, 1>’)"
            ),
            "no match for operator*",
        ),
        (
            compile_error("no matching function for call to ‘max<at::Vec<f<int>, 2> >(float (&)[3])’ [with T = int]"),
            "no matching function for call to max",
        ),
        ("C++ compile error\n\nCommand:\ng++\n\nOutput:\nKilled\n", ""),
        (unlike_meta("bmm"), "aten.bmm.default"),
        (unlike_meta("bmm").replace("torch.ops.aten.bmm.default", "input"), "input"),
        ("expected size 3==4, stride 1==8 at dim=0\n", ""),
        (fake(CAT), "cat: RuntimeError: no kernel of 3"),
        (fake("method squeeze", 'IndexError("dim\'s range\\nand more")'), "squeeze: IndexError: dim's range"),
        (fake("function <function relu at 0x7f02>", "Odd"), "relu"),
        (fake("function aten.sum.default"), "aten.sum.default: RuntimeError: no kernel of 3"),
        ("AssertionError: error: expected size 3", ""),
    ],
)
def test_wrapper_is_described_by_its_cause(text, cause):
    assert innermost_cause(text) == cause


def message(text):
    return normalised(raised(lambda: _raise(RuntimeError(text))).message)


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (
            compile_error("'tmp7' was not declared in this scope"),
            compile_error("‘tmp18’ was not declared in this scope", 9),
        ),
        (unlike_meta("bmm"), unlike_meta("bmm", "70==8")),
        (fake(CAT), fake(CAT.replace("0x7f01", "0x8a00"), "RuntimeError('no kernel of 17')", 8)),
    ],
)
def test_one_cause_is_one_message(one, same):
    assert message(one) == message(same)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (compile_error("'tmp7' was not declared in this scope"), compile_error("expected ';' before 'auto'")),
        (unlike_meta("bmm"), unlike_meta("mm")),
        (fake(CAT), fake("method squeeze")),
        (fake(CAT), fake(CAT, "RuntimeError('sizes do not fit')")),
    ],
)
def test_two_causes_are_two_messages(one, another):
    assert message(one) != message(another)


def test_wrapper_keeps_its_message_before_the_cause():
    assert message(unlike_meta("bmm")) == "expected size N==N, stride N==N at dim=N: aten.bmm.default"
    assert message(compile_error("expected ';' before 'auto'")).endswith("C++ compile error: expected ; before auto")
