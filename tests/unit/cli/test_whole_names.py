"""What can be copied from a report stays in one piece, on terminals of 80 and 100 columns and in pipes."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eqfuzz.campaign.invocation import InvocationOptions, open_store
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Arm, EpochResult, Item, StoredFinding
from eqfuzz.oracle.compare.verdict import Evidence
from eqfuzz.triage.findings.buckets import Buckets, bucket_id
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.terminal import run_on_terminal
from tests.unit.triage.findings import finding_of

SEED = "/home/someone/projects/a/folder/with/many/seeds/by/theme/that_exceeds_the_width_of_a_terminal_by_far.py"
RULE = "rules-of-a-user/exchange_the_operands_of_additions_whose_results_are_added_to_others_and_not_used_again"
FRAME = "torch._inductor.codegen.some_module_of_the_compiler.SomeClassOfTheCompiler.a_method_with_a_name_that_is_long"
FINGERPRINT = (
    "raises · InductorError · _inductor.codegen.cpp.CppKernel.reduction_with_a_name_that_exceeds_every_terminal"
)
URL = "https://github.com/pytorch/pytorch/issues/123456789?with=a&query=that&makes=it&longer=than&eighty=columns"
ARM = "template:a_template_whose_name_is_longer_than_any_other_and_which_does_not_fit_into_eighty_columns"
CONFIG = "a-configuration-of-a-user-with-a-name-that-is-longer-than-eighty-columns-and-may-not-be-folded-anywhere"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one finding and a campaign with the same, all of whose names are long."""
    out = tmp_path_factory.mktemp("run")
    evidence = Evidence(0, "output", (1, 2), 1.0, 2.0, 1.0, 1e-6, frames=(FRAME,))
    finding = finding_of(rules=(RULE,), evidence=evidence, message=f"it differs: see {SEED} for more")
    finding = dataclasses.replace(
        finding, original=dataclasses.replace(finding.original, name=SEED), fingerprint=FINGERPRINT, config=CONFIG
    )
    write_folder(out / "findings", finding, ReproducerScript("print('it printed', 'something')\n"), None)
    Buckets(out).add(finding)
    (out / "known.toml").write_text(
        f'[[issue]]\nurl = "{URL}"\nadded = 2026-11-25\ntitle = "a title"\nfingerprint = "{FINGERPRINT}"\n'
    )
    (out / "configs.toml").write_text(f"[configs.{CONFIG}]\nfullgraph = true\n")
    with open_store(InvocationOptions(name="", out=out)) as store:
        campaign = store.open_campaign("night", 7, {}, {"torch": "2.15.0"}, 1.0).id
        store.items.add_epoch(campaign, 1, [Item(1, 0, store.put_program("x = 1\n"), SEED, {"source": ARM})])
        lease = store.items.lease(campaign, "host/1/1")
        assert lease is not None
        bucket = bucket_id(FINGERPRINT)
        report = {"verdict": finding.verdict.to_json()}
        stored = StoredFinding(finding.id, "wrong-result", FINGERPRINT, bucket, "", SEED, 1, report)
        store.items.complete(lease, Outcome(state="done"), [stored], 2.0)
        store.commit_epoch(campaign, 1, EpochResult({}, (), (Arm("source", ARM, 1.0, 1.0, 1),), {}, _point()))
    return out


def _point() -> dict[str, object]:
    names = ("programs", "invalid", "errors", "lost", "sites", "variants", "cells", "erased", "peak_mb")
    figures = {"epoch": 1, "features": 2, "lines": 3, "kept": 1, "seconds": 2.0, "cpu_seconds": 1.0, "verdicts": {}}
    return {**dict.fromkeys(names, 0), **figures}


CASES = {
    "show {id} --out {out}": (SEED, RULE, FRAME, CONFIG, "{id}", "{bucket}", "python {out}/findings/{id}/repro.py"),
    "findings --out {out}": (SEED, RULE, FINGERPRINT, "{id}", "{bucket}"),
    "findings --out {out} --known-issues {out}/known.toml": (URL,),
    "campaign show night --out {out}": (SEED, FINGERPRINT, ARM, "{id}", "{bucket}"),
    "campaign list --out {out}": ("night",),
    "known list --file {out}/known.toml": (URL, FINGERPRINT),
    "config list --configs-from {out}/configs.toml": (CONFIG, "inductor-max-autotune-no-cudagraphs"),
    "rules list operators": ("pow_half_is_sqrt",),
    "generate ops losses": ("torch.nn.functional.binary_cross_entropy_with_logits.none",),
    "generate parts lowering:*": ("lowering:lowering.inductor_lookup_seed",),
    "replay {id} --out {out}": ("{id}",),
}


def arguments(text: str, out: Path) -> list[str]:
    (id,) = [folder.name for folder in (out / "findings").iterdir()]
    return [sys.executable, "-m", "eqfuzz", *text.format(id=id, out=out).split()]


def names(text: str, out: Path) -> list[str]:
    (id,) = [folder.name for folder in (out / "findings").iterdir()]
    return [name.format(id=id, out=out, bucket=bucket_id(FINGERPRINT)) for name in CASES[text]]


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("text", CASES)
def test_names_are_whole_on_a_terminal(out: Path, text: str, columns: int):
    lines, _ = run_on_terminal(arguments(text, out), columns=columns)
    screen = "".join(lines)  # the terminal itself breaks a long line at its last column
    assert [name for name in names(text, out) if name not in screen] == []


@pytest.mark.parametrize("text", CASES)
def test_names_are_whole_in_a_pipe(out: Path, text: str):
    environment = {**os.environ, "COLUMNS": "80"}
    ran = subprocess.run(arguments(text, out), capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    assert [name for name in names(text, out) if name not in ran.stdout] == []
