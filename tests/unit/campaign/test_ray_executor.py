"""Resources that are requested from a Ray cluster, and messages where there is none."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from eqfuzz.campaign.configuration import Configuration, from_tables
from eqfuzz.campaign.executors.ray import RayExecutor, shares
from eqfuzz.errors import UsageError


def configured(devices: tuple[str, ...] = ("cpu",), epoch: int = 16) -> Configuration:
    return from_tables({"compiling": {"devices": devices}, "feedback": {"epoch": epoch}}, "test")


@pytest.mark.parametrize(
    ("resources", "devices", "jobs", "expected"),
    [
        ({"CPU": 8.0}, ("cpu",), 0, (8, {"CPU": 1.0})),
        ({"CPU": 8.0, "GPU": 2.0}, ("cpu",), 3, (3, {"CPU": 1.0})),
        ({"CPU": 8.0, "GPU": 2.0}, ("cuda",), 0, (2, {"CPU": 1.0, "GPU": 1.0})),
        ({"CPU": 8.0, "GPU": 2.0}, ("cpu", "cuda"), 6, (6, {"CPU": 1.0, "GPU": 0.3333})),
        ({"CPU": 8.0, "GPU": 4.0}, ("cuda",), 5, (5, {"CPU": 1.0, "GPU": 0.5})),
        ({}, ("cpu",), 4, (4, {"CPU": 1.0})),
    ],
)
def test_number_of_workers_depends_on_the_resources_of_the_cluster(resources, devices, jobs, expected):
    assert shares(resources, configured(devices), jobs) == expected


@pytest.mark.parametrize(
    ("resources", "devices", "jobs", "message"),
    [
        ({"CPU": 8.0}, ("cuda",), 0, "has no GPU"),
        ({}, ("cpu",), 0, "has no CPU"),
        ({"CPU": 64.0}, ("cpu",), 0, "set feedback.epoch to 32 or more, or --jobs 32 or less"),
    ],
)
def test_cluster_that_does_not_fit_is_refused(resources, devices, jobs, message):
    with pytest.raises(UsageError, match=message):
        shares(resources, configured(devices), jobs)


def test_message_without_ray_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"^--executor ray: .*pip install 'eqfuzz\[ray\]'$"):
        RayExecutor(configured(), tmp_path, 1, "")


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def test_address_without_a_cluster_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'eqfuzz[ray]'")
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(UsageError, match=f"^--ray-address: nothing answers at {address}: "):
        RayExecutor(configured(), tmp_path, 1, address)


def test_invalid_address_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'eqfuzz[ray]'")
    with pytest.raises(UsageError, match=r"^--ray-address nonsense: [^\n]+$"):
        RayExecutor(configured(), tmp_path, 1, "nonsense")
