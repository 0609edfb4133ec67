"""Cells of one seed that show the same are one finding; which those are."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from eqfuzz.campaign import seed_run
from eqfuzz.campaign.seed_run import SeedRun
from eqfuzz.campaign.settings import Settings
from eqfuzz.judge.verdict import Evidence, Kind, Verdict
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from tests.unit.campaign.children import Children
from tests.unit.triage.findings import SOURCE

AGREE = Verdict(Kind.AGREE, "it agrees")


def crash(message: str) -> Verdict:
    return Verdict(Kind.COMPILER_CRASH, message, Evidence(frames=("_inductor.graph.GraphLowering.run",)))


def confirmed(monkeypatch: Any, tmp_path: Path, *verdicts: Verdict) -> list[list[tuple[int, str]]]:
    """The groups of cells that a finding is to be made of, in turn: the seed shows the first verdict, variants more."""
    groups: list[list[tuple[int, str]]] = []

    class Unconfirmed:
        def __init__(self, *_: Any) -> None:
            pass

        def confirm(self, cells: Any, original: Any) -> Verdict:
            groups.append([(cell.variant, str(cell.verdict.kind)) for cell in cells])
            return Verdict(Kind.FLAKY, "not again")

    monkeypatch.setattr(seed_run, "Confirming", Unconfirmed)
    variants = [{"source": SOURCE, "derivation": [], "exactness": "bitwise"} for _ in verdicts[1:]]
    told: list[dict[str, Any]] = [{"event": "rewritten", "sites": 1, "variants": variants, "cells": len(verdicts)}]
    about = {"event": "cell", "device": "cpu", "config": "inductor", "seconds": 1.0, "compiled": None, "erased": False}
    told += [{**about, "variant": n, "verdict": v.to_json(), "features": []} for n, v in enumerate(verdicts)]
    ended = {"event": "exit", "reason": "done", "detail": "", "cpu_seconds": 1.0}
    settings = Settings(paths=(), out=tmp_path)
    SeedRun(
        0,
        Path("seeds/some.py"),
        settings,
        (),
        Children({"run": [*told, ended]}),  # pyright: ignore[reportArgumentType]
        Environment(tmp_path),
        Limits(),
        {},
        lambda _: None,
        threading.Event(),
        None,
        text=SOURCE,
    ).run()
    return groups


def test_another_crash_of_a_variant_is_a_second_finding(monkeypatch, tmp_path):
    one, again, other = crash("KeyError: 'buf3'"), crash("KeyError: 'buf14'"), crash("IndexError: no index 3")
    groups = confirmed(monkeypatch, tmp_path, one, AGREE, other, again)
    assert groups == [[(0, "compiler-crash"), (3, "compiler-crash")], [(2, "compiler-crash")]]


def test_another_leaf_of_a_variant_is_a_second_finding(monkeypatch, tmp_path):
    wrong = [Verdict(Kind.WRONG_RESULT, "it differs", Evidence(path=f"output[{n}]")) for n in (0, 1, 0)]
    groups = confirmed(monkeypatch, tmp_path, AGREE, *wrong)
    assert groups == [[(1, "wrong-result"), (3, "wrong-result")], [(2, "wrong-result")]]


def test_the_gravest_of_a_seed_is_confirmed_first(monkeypatch, tmp_path):
    kinds = Kind.WRONG_METADATA, Kind.COMPILER_CRASH, Kind.WRONG_GRADIENT, Kind.WRONG_RESULT
    groups = confirmed(monkeypatch, tmp_path, *(Verdict(kind, "it differs", Evidence(path="x")) for kind in kinds))
    assert [kind for [(_, kind)] in groups] == [str(kind) for kind in reversed(kinds)]
