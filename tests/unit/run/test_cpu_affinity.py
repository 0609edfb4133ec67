import contextlib
import os

import pytest

from eqfuzz.run.processes import cpu_affinity as cores
from eqfuzz.run.processes.cpu_affinity import Cores, pin


@pytest.fixture
def allowed(monkeypatch):
    """Lets a test say which cores this process may use."""
    return lambda cores: monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(cores))


def test_each_worker_has_a_core_of_its_own(allowed):
    allowed({3, 5, 9})
    cores = Cores(3)
    with cores.one() as first, cores.one() as second, cores.one() as third:
        assert {first, second, third} == {3, 5, 9}
    with cores.one() as again:
        assert again in {3, 5, 9}


def test_core_is_released_when_the_block_raises(allowed):
    allowed({0, 1})
    cores = Cores(2)
    with contextlib.suppress(ZeroDivisionError), cores.one():
        raise ZeroDivisionError
    with cores.one() as first, cores.one() as second:
        assert {first, second} == {0, 1}


@pytest.mark.parametrize(("mine", "jobs"), [({0, 1}, 1), ({0, 1}, 3), ({4}, 1)])
def test_cores_are_shared_unless_several_jobs_fill_the_machine(allowed, mine, jobs):
    allowed(mine)
    with Cores(jobs).one() as core:
        assert core is None


def test_a_core_that_is_no_longer_available_is_ignored():
    before = os.sched_getaffinity(0)
    pin(None)
    pin(max(before) + 500)
    assert os.sched_getaffinity(0) == before


def test_unpinned_block_may_use_every_core_and_restores_the_pin(monkeypatch):
    at = [{4, 5}]
    monkeypatch.setattr(cores, "_before", set())
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(at[-1]))
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, where: at.append(set(where)))
    with cores.unpinned():
        assert at == [{4, 5}]
    pin(5)
    with cores.unpinned():
        assert at[-1] == {4, 5}
    assert at[-1] == {5}
