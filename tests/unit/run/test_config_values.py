"""ConfigFuzzer over torch's: values kept, state saved and loaded, the same choice everywhere, nothing left changed."""

import random
import signal

import pytest
import torch
from torch.testing._internal import fake_config_module as fake

pytest.importorskip("torch._inductor.fuzzer", reason="torch 2.6 does not sample configurations")

from torch._dynamo import config as dynamo_config
from torch._inductor import config as inductor_config

from eqfuzz.run.configs.fuzzer import (
    MODULE_DEFAULTS,
    ConfigFuzzer,
    SamplingMethod,
    Status,
    Unkept,
    visualize_results,
)

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

TWO = {"e_bool": False, "e_optional": None}


def failing_with_two():
    return lambda: not (not fake.e_bool and fake.e_optional is None)


def passing():
    return lambda: True


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """What is tried here needs no compiler."""
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)


def test_results_have_the_values():
    results = ConfigFuzzer(fake, failing_with_two, seed=1, default={}).fuzz_n_tuple(2, max_combinations=20)
    assert results.values(("e_bool", "e_optional")) == [(TWO, Status.FAILED_RUN_RETURN)]
    assert results.of(TWO) is Status.FAILED_RUN_RETURN
    assert results.of({"e_bool": True, "e_optional": None}) is None


def test_other_values_of_the_same_options_are_tried():
    fuzzer = ConfigFuzzer(fake, failing_with_two, seed=1, default={})
    results = fuzzer.reproduce([TWO, {"e_bool": True, "e_optional": None}])
    assert [status for _, status in results.values(tuple(TWO))] == [Status.FAILED_RUN_RETURN, Status.PASSED]


def test_options_are_looked_up_without_the_defaults():
    fuzzer = ConfigFuzzer(fake, failing_with_two, seed=1, default={"e_int": 7})
    results = fuzzer.reproduce_single(TWO)
    assert results.lookup(tuple(TWO)) is Status.FAILED_RUN_RETURN
    assert results.values(tuple(TWO)) == [(TWO, Status.FAILED_RUN_RETURN)]


def test_state_keeps_values_and_is_not_run_again(tmp_path):
    file = str(tmp_path / "state.pkl")
    first = ConfigFuzzer(fake, failing_with_two, seed=1, default={})
    ran = first.fuzz_n_tuple(2, max_combinations=20)
    first.save_state(file)
    second = ConfigFuzzer(fake, lambda: pytest.fail("run again"), seed=1, default={})
    second.load_state(file)
    assert second.results.tried() == first.results.tried()
    assert len(first.results.tried()) == 20
    again = second.fuzz_n_tuple(2, max_combinations=20)
    assert again.num_ran() == ran.num_ran()
    assert again.lookup(tuple(TWO)) is Status.FAILED_RUN_RETURN


def test_exception_that_cannot_be_pickled_is_stored_as_text(tmp_path):
    def raising():
        def function():
            raise ValueError("no")

        return function

    file = str(tmp_path / "state.pkl")
    first = ConfigFuzzer(fake, raising, seed=1, default={})
    first.reproduce_single({"e_int": 2, "e_none": len, "e_string": lambda: 1})
    first.save_state(file)
    second = ConfigFuzzer(fake, raising, seed=1, default={})
    second.load_state(file)
    ((values, status),) = second.results.tried()
    assert values["e_int"] == 2
    assert values["e_none"] is len
    assert isinstance(values["e_string"], Unkept)
    assert status is Status.FAILED_RUN_EAGER_EXCEPTION
    (details,) = second.detailed_results.values()
    assert details["exception"] == "no"
    assert details["config"]["e_int"] == 2


def test_samples_depend_on_the_seed_alone():
    def drawing():
        return lambda: random.random() >= 0  # must not reach the sampler

    def tried(factory, seed):
        random.seed()
        fuzzer = ConfigFuzzer(fake, factory, seed=seed, default={}, sm=SamplingMethod.RANDOM)
        fuzzer.bisect(num_attempts=3, p=0.5)
        return repr(fuzzer.results.tried())

    assert tried(drawing, 5) == tried(passing, 5)
    assert tried(passing, 5) != tried(passing, 6)


def test_options_timer_and_random_state_are_restored():
    options = dict(fake.get_config_copy())  # type: ignore[attr-defined]
    state = random.getstate()
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        fuzzer = ConfigFuzzer(fake, failing_with_two, seed=1, default={}, test_timeout=5)
        assert fuzzer.bisect(num_attempts=1, p=1.0) == [TWO]
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert fake.get_config_copy() == options
    assert random.getstate() == state


def test_dynamo_has_defaults_that_let_it_compile():
    def factory():
        return lambda: not torch._dynamo.config.specialize_int or torch._dynamo.config.capture_scalar_outputs

    assert {"disable", "suppress_errors", "recompile_limit"} <= set(MODULE_DEFAULTS["torch._dynamo.config"])
    fuzzer = ConfigFuzzer(torch._dynamo.config, factory, seed=10)
    assert "cache_size_limit" not in fuzzer.fields  # an alias: torch's would set recompile_limit by it
    config = {"specialize_int": True, "capture_scalar_outputs": False}
    assert fuzzer.reproduce_single(config).lookup(tuple(config)) is Status.FAILED_RUN_RETURN
    assert torch._dynamo.config.recompile_limit == 8


REAL = [inductor_config, dynamo_config]


@pytest.mark.parametrize("module", REAL)
@pytest.mark.parametrize("method", SamplingMethod)
def test_calls_of_the_documentation_work_on_the_real_options(tmp_path, module, method):
    fuzzer = ConfigFuzzer(module, passing, seed=2, sm=method)
    singles = fuzzer.fuzz_n_tuple(1, max_combinations=10_000)
    assert singles.num_ran() > 40
    results = fuzzer.fuzz_n_tuple(2, max_combinations=100)
    assert results.num_ran() == 100
    visualize_results(2, results, str(tmp_path / "results.html"))
    page = (tmp_path / "results.html").read_text()
    ran = [combo for combo in iter(results.keys()) if results.lookup(combo) is Status.PASSED]
    pairs = [sorted(set(combo) - set(fuzzer.default)) for combo in ran]
    assert page.count('class="passed"') == 2 * len(pairs)
    assert fuzzer.bisect(num_attempts=3) == []
    first, second = pairs[0]
    assert len(fuzzer.reproduce([{first: getattr(module, first), second: getattr(module, second)}])) == 1


@pytest.mark.parametrize("module", REAL)
def test_state_of_the_real_options_is_saved_and_loaded(tmp_path, module):
    name = "split_reductions" if module is inductor_config else "specialize_int"
    value = not getattr(module, name)
    fuzzer = ConfigFuzzer(module, lambda: lambda: getattr(module, name) is not value, seed=100)
    failing = fuzzer.bisect(num_attempts=2, p=1.0)
    assert failing == [{name: value}, {name: value}]
    fuzzer.fuzz_n_tuple(1, max_combinations=1000)
    fuzzer.save_state(str(tmp_path / "state.pkl"))
    loaded = ConfigFuzzer(module, lambda: pytest.fail("run again"), seed=100)
    loaded.load_state(str(tmp_path / "state.pkl"))
    assert len(loaded.results.tried()) == len(fuzzer.results.tried()) > 40
    assert loaded.results.of({name: value}) is Status.FAILED_RUN_RETURN
    assert loaded.detailed_results.keys() == fuzzer.detailed_results.keys()


def test_option_without_a_value_keeps_its_default():
    fuzzer = ConfigFuzzer(fake, passing, seed=1, default={})
    assert fuzzer.sample("e_int", "a type that torch does not know", 7) == 7
