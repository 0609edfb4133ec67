"""``eqfuzz config bisect``: find the options that turn a finding on or off."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from eqfuzz.cli.exit_codes import VerbFailed
from eqfuzz.cli.findings.lookup import finding_in, folder_of
from eqfuzz.cli.options.common import OUT, EventFormat, OutputFormat, RandomSeed, RunFolder
from eqfuzz.cli.options.compiling import Attempts, OnlyOptions, Probability
from eqfuzz.cli.options.findings import FindingId
from eqfuzz.cli.options.values import BadOption, split_names

if TYPE_CHECKING:
    from eqfuzz.triage.locate.config_bisection import ConfigTrial


def bisect(
    id: FindingId,
    out: RunFolder = OUT,
    attempts: Attempts = 20,
    p: Probability = 0.1,
    only: OnlyOptions = None,
    seed: RandomSeed = 0,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Find the options that decide a finding.

    For a finding under sampled options: the fewest of these that it needs (delta debugging). For a finding under the
    default options: the fewest changes without which it reproduces, from --attempts random configurations.

    Exit codes: 0 found, 2 no such finding, 3 no longer reproduces, or no option turns it off, 130 interrupted.
    """
    folder = folder_of(id, out)

    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.config import print_bisected, print_tried
    from eqfuzz.run.configs.options import SAMPLED_MODULES, UnknownOption, options_of
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.triage.locate import config_bisection

    console = make_console()
    as_json = format is OutputFormat.JSON

    def report(trial: ConfigTrial) -> None:
        if as_json:
            print(json.dumps({"event": "tried", **dataclasses.asdict(trial)}), flush=True)
        else:
            print_tried(console, trial)

    finding = finding_in(folder)
    try:
        options = options_of(SAMPLED_MODULES).chosen(split_names(only))
        tries = config_bisection.Attempts(options, attempts, p, seed)
        bisection = config_bisection.bisect(finding, folder, out, tries, report)
    except UnknownOption as error:
        raise BadOption("--only", str(error)) from None
    except BrokenPipeError:
        raise
    except (config_bisection.NotBisected, RunnerFailed, OSError) as error:
        raise VerbFailed(f"{folder.name}: {error}") from None
    if as_json:
        print(json.dumps({"event": "summary", **dataclasses.asdict(bisection)}))
    else:
        print_bisected(console, bisection)
