"""Programs that compute in numpy: their reference is measured on Dynamo's translation of numpy, or they have none."""

import numpy as np
import torch
from torch._dynamo.variables.misc import get_np_to_tnp_map

from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.numpy_reference import NOT_EXPLAINED
from eqfuzz.program.call import Call

X = torch.linspace(0.1, 1.7, 12).reshape(3, 4)


def through_numpy(x):
    a = np.tanh((x * 1.3).numpy())
    return torch.from_numpy(a @ a.T) / 3, a.sum(axis=0)


def between_graphs(x):
    a = (x * 1.3).numpy()
    torch._dynamo.graph_break()
    return torch.from_numpy(np.sin(a) * 2)


def measure(program):
    return reference(lambda: program, [Call((X,), {})])


def test_numbers_from_numpy_get_a_bound():
    measured = measure(through_numpy)
    assert not measured.unknown
    assert not measured.data_dependent
    eager = through_numpy(X)
    for (_, leaf), value in zip(measured.calls[0].outputs, eager, strict=True):
        assert leaf.bound is not None
        assert float(leaf.bound.max()) < 1e-5
        assert float((leaf.value - torch.as_tensor(value).double()).abs().max()) < 1e-5


def test_gradients_past_numpy_get_a_bound_too():
    def program(x):
        scale = torch.from_numpy(np.exp(x.detach().numpy()))
        return (x * scale).sum()

    measured = reference(lambda: program, [Call((X.clone().requires_grad_(),), {})])
    ((_, leaf),) = measured.calls[0].gradients
    assert not measured.unknown
    assert leaf.bound is not None
    assert float(leaf.bound.max()) < 1e-5


def test_wrong_number_of_numpy_is_reported_and_a_rounded_one_is_not():
    eager = observe(lambda: through_numpy, [Call((X,), {})])

    def changed(factor):
        def program(x):
            first, second = through_numpy(x)
            return first * torch.where(torch.arange(3) == 1, factor, 1.0), second

        return judge_compiled(eager, observe(lambda: program, [Call((X,), {})]), measure(through_numpy)).kind

    assert changed(1 + 1e-4) is VerdictKind.WRONG_RESULT
    assert changed(1 + 1e-7) is VerdictKind.AGREE


def test_shapes_that_data_decide_are_captured_too():
    def program(x):
        a = (x * 1.3).numpy()
        return torch.from_numpy(np.exp(a)), a[a[:, 0] > 0.5].shape[0]

    measured = measure(program)
    assert not measured.unknown
    _, leaf = measured.calls[0].outputs[0]
    assert leaf.bound is not None
    assert float(leaf.bound.max()) < 1e-5


def test_values_computed_between_graphs_have_no_reference():
    measured = measure(between_graphs)
    assert measured.unknown or all(leaf.unknown for _, leaf in measured.calls[0].outputs)


def test_tensors_computed_outside_of_graphs_have_no_reference():
    def program(x, scale):
        a = torch.from_numpy(numpy_copy(scale))
        with torch.random.fork_rng():
            y = x / x.sum()
        return y * a, (y * a).argmax()

    def numpy_copy(value):
        return np.array(value.numpy())

    measured = reference(lambda: program, [Call((X, X + 1), {})])
    assert measured.unknown or all(leaf.unknown for _, leaf in measured.calls[0].outputs)


def test_wrong_translation_of_numpy_is_a_wrong_result(monkeypatch):
    eager = observe(lambda: through_numpy, [Call((X,), {})])
    read = get_np_to_tnp_map()
    monkeypatch.setitem(read, np.tanh, read[np.sinh])
    measured = measure(through_numpy)
    torch.testing.assert_close(measured.calls[0].outputs[0][1].value, through_numpy(X)[0].double())
    torch._dynamo.reset()
    compiled = observe(lambda: torch.compile(through_numpy, backend="eager"), [Call((X,), {})])
    assert judge_compiled(eager, compiled, measured).kind is VerdictKind.WRONG_RESULT


def test_slightly_other_translation_of_numpy_has_no_reference_and_others_do(monkeypatch):
    def program(x):
        return np.sinh(x.numpy() + 6), np.sin(x.numpy() * 1.3)

    read = get_np_to_tnp_map()
    monkeypatch.setitem(read, np.sinh, read[np.cosh])
    measured = measure(program)
    assert not measured.unknown
    other, right = (leaf for _, leaf in measured.calls[0].outputs)
    assert other.unknown == NOT_EXPLAINED
    assert not right.unknown
    assert right.bound is not None


def test_wrong_translation_of_exact_values_is_a_wrong_result():
    def program(x):
        return torch.from_numpy(np.fix(x.numpy())) * 2

    measured = reference(lambda: program, [Call((torch.tensor([-4.2, 1.5]),), {})])
    assert measured.calls[0].outputs[0][1].value.tolist() == [-8.0, 2.0]


def sums(x):
    return np.mean(x.numpy() * 0.7), [np.sum(x.numpy())]


def judged(program, changed):
    calls = [Call((X,), {})]
    eager, compiled = observe(lambda: program, calls), observe(lambda: changed, calls)
    return judge_compiled(eager, compiled, reference(lambda: program, calls))


def test_scalar_of_numpy_may_be_an_array_and_has_a_bound():
    measured = measure(sums)
    assert [leaf.bound is not None for _, leaf in measured.calls[0].outputs] == [True, True]

    def as_arrays(factor):
        def program(x):
            mean, (total,) = sums(x)
            return np.asarray(mean * np.float32(factor)), [np.asarray(total)]

        return program

    assert judged(sums, as_arrays(1 + 1e-7)).kind is VerdictKind.AGREE
    assert judged(sums, as_arrays(1 + 1e-3)).kind is VerdictKind.WRONG_RESULT
    verdict = judged(sums, lambda x: (np.asarray(sums(x)[0]).astype(np.float64), sums(x)[1]))
    assert (
        verdict.message
        == "call 0: output[0]: type is NumPy scalar of float32 in eager and NumPy scalar of float64 in compiled"
    )


def test_fractions_that_numpy_makes_of_whole_numbers_get_a_bound_and_its_whole_numbers_are_exact():
    def program(x):
        return np.exp(x.numpy()), np.fft.fft(x.numpy()), torch.from_numpy(np.exp(x.numpy())) * 3, np.cumsum(x.numpy())

    measured = reference(lambda: program, [Call((torch.arange(5),), {})])
    *rounded, (_, exact) = measured.calls[0].outputs
    assert not measured.unknown
    for _, leaf in rounded:
        assert not leaf.unknown
        assert leaf.bound is not None
        assert 0 < float(leaf.bound.max()) < 1e-12
    assert exact.bound is None
    assert not exact.unknown


def test_fractions_that_numpy_makes_of_python_numbers_get_a_bound():
    measured = reference(lambda: lambda x: (np.blackman(5) * 0.7, x + 1), [Call((X,), {})])
    (_, window), (_, plain) = measured.calls[0].outputs
    assert not window.unknown
    assert 0 < float(window.bound.max()) < 1e-12
    assert not plain.unknown


def test_what_numpy_writes_into_a_tensor_gets_a_bound():
    def program(x, y):
        np.log1p(x.numpy(), y.numpy())
        return y + 0

    y = torch.linspace(0.3, 0.9, 12).reshape(3, 4)
    measured = reference(lambda: program, [Call((X, y), {})])
    (call,) = measured.calls
    (written,) = [leaf for path, leaf in call.inputs_after if path == "args[1]"]
    ((_, result),) = call.outputs
    for leaf in (written, result):
        assert not leaf.unknown
        assert leaf.bound is not None
        assert 0 < float(leaf.bound.max()) < 1e-5


def test_what_torch_writes_after_an_export_is_not_of_numpy():
    def program(x):
        first = float(x.numpy()[0, 0])
        x.fill_(2.0 if first else 3.0)
        return x * 2

    measured = measure(program)
    assert not measured.unknown
    ((_, result),) = measured.calls[0].outputs
    assert not result.unknown
