"""Panel of a finding: headline, source diff, the four cells, the worst element, two lines to paste."""

from __future__ import annotations

import math
import os
import shlex
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from eqfuzz.events.run import FindingReported
from eqfuzz.oracle.compare.verdict import Evidence
from eqfuzz.report.formatting import count, printable, value
from eqfuzz.report.layout import Framed, LabelledTexts
from eqfuzz.report.source import Excerpt, SourceDiff
from eqfuzz.report.tables import plain_table
from eqfuzz.report.verdict_texts import is_defect, style_of
from eqfuzz.triage.findings.finding import Finding

_APART = 6
"""Columns between the cells and the worst element, where there is room for both on a line."""

MAX_WIDTH = 160


def print_finding(console: Console, event: FindingReported, out: str) -> None:
    """The panel, and below it the two lines, unbroken so that they can be pasted."""
    finding = event.finding
    kind = str(finding.verdict.kind)
    width = min(console.width, MAX_WIDTH)
    title = Text.assemble(" ", (kind, style_of(kind)), "  ", (finding.id, "bold"), " ")
    console.print()
    console.print(Framed(title, _body(event, console, width - 2), "red", width), crop=False)
    for line in paste_lines(event, out):
        console.print(Text(line, style="bold"), soft_wrap=True)


def one_line(event: FindingReported) -> str:
    """``wrong-result 1f2e3d4c5b seeds/a.py: rules, config on device: message``."""
    message = printable(event.finding.verdict.in_words).replace("\n", " ")
    return f"{headline(event)}: {message}"


def headline(event: FindingReported) -> str:
    """``wrong-result 1f2e3d4c5b seeds/a.py: rules, config on device``, without the numbers."""
    finding = event.finding
    how = " + ".join(step.rule for step in finding.derivation) or "the original"
    return f"{finding.verdict.kind} {finding.id} {finding.original.name}: {how}, {finding.config} on {finding.device}"


def paste_lines(event: FindingReported, out: str) -> tuple[str, str]:
    """The stand-alone script and the replay, as shell commands, with relative paths where they are shorter."""
    script = shlex.quote(f"{_short(event.folder)}/repro.py")
    return f"python {script}", f"eqfuzz replay {event.finding.id} --out {shlex.quote(_short(out))}"


def _short(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") or len(relative) > len(path) else relative


def _body(event: FindingReported, console: Console, width: int) -> list[RenderableType]:
    finding = event.finding
    parts: list[RenderableType] = [_headline(event), Text()]
    parts += [_who_shows_it(finding), Text(printable(finding.verdict.in_words)), Text()]
    if finding.derivation:
        parts.append(SourceDiff(finding.original.source, finding.transformed.source, finding.derivation))
    else:
        parts.append(Excerpt(finding.transformed))
    parts.append(Text())
    cells = _cells(finding)
    evidence = finding.verdict.evidence
    worst = _worst(evidence) if evidence is not None else None
    if worst is None:
        parts.append(cells)
    elif sum(Measurement.get(console, console.options, part).maximum for part in (cells, worst)) + _APART <= width:
        beside = Table.grid(padding=(0, _APART, 0, 0))
        beside.add_row(cells, worst)
        parts.append(beside)
    else:
        parts += [cells, Text(), worst]
    if finding.suspects:
        parts.append(Text())
        lines = [f"wrong by itself: {printable(line)}" for line in finding.suspects[:3]]
        parts += [Text(line, style="magenta") for line in lines]
    return parts


def _headline(event: FindingReported) -> LabelledTexts:
    finding = event.finding
    rows = [("seed", Text(printable(finding.original.name)))]
    if finding.derivation:
        rules = Text("\n").join(
            Text.assemble((step.rule, "bold magenta"), (f"  line {step.line}", "dim")) for step in finding.derivation
        )
        rows.append(("rule" if len(finding.derivation) == 1 else "rules", rules))
    release = str(finding.environment.release)
    config = Text.assemble((finding.config, "bold"), " on ", (finding.device, "bold"))
    rows.append(("config", config.append(f", torch {release}" if release else "")))
    if finding.graph_steps:
        rows.append(("graphs", Text("\n".join(map(printable, finding.graph_steps)), style="magenta")))
    if finding.about_threads:
        rows.append(("threads", Text(finding.about_threads)))
    if finding.also:
        cells = f"{count(finding.also, 'more cell')} of this seed {'shows' if finding.also == 1 else 'show'} the same"
        rows.append(("also", Text(cells)))
    if finding.place:
        rows.append(("place", _place(finding)))
    if event.bucket:
        rows.append(("bucket", Text.assemble((event.bucket, "bold"), f"  {printable(finding.fingerprint)}")))
    if finding.reduced is not None:
        before, after = finding.reduced.statements
        rows.append(("reduced", Text(f"from {count(before, 'statement')} to {after:,}")))
    if event.known:
        rows.append(("known", Text("found by an earlier run in this folder too")))
    return LabelledTexts(rows)


def _place(finding: Finding) -> Text:
    """The faulty component, and what the backends before it show."""
    backends = ", ".join(f"{backend} {kind}" for backend, kind in finding.backends.items())
    return Text.assemble((printable(finding.place), "bold"), (f"  {backends}", "dim"))


def _who_shows_it(finding: Finding) -> Text:
    if not finding.only_transformed:
        where = " of the program" if finding.graph_steps else ""
        return Text(f"The original shows it too, no rewrite{where} needed.", style="bold")
    text = Text(" ONLY THE TRANSFORMED PROGRAM SHOWS IT ", style="bold reverse yellow")
    if finding.original_is_right:
        text = Text.assemble(text, " the original compiles correctly")
    return text


def _cells(finding: Finding) -> Table:
    """The four cells; two where there is no transformed program."""
    table = plain_table()
    table.add_column("")
    table.add_column("eager")
    table.add_column("compiled")
    rows = [("original", "P", "C(P)")]
    if finding.derivation:
        rows.append(("transformed", "P'", "C(P')"))
    for label, eager, compiled in rows:
        table.add_row(Text.assemble((label, "bold"), f" {eager}"), _cell(finding, eager), _cell(finding, compiled))
    return table


def _cell(finding: Finding, name: str) -> Text:
    outcome = printable(finding.cells.get(name, "not run"))
    if is_defect(outcome.split(" ")[0]):
        return Text(f"✗ {outcome}", style="bold red")
    good = outcome == "agree" or name in ("P", "P'")
    return Text(outcome, style="green" if good and outcome != "not run" else "yellow")


def _worst(evidence: Evidence) -> LabelledTexts | None:
    """The worst element with its numbers; None without such evidence."""
    rows: list[tuple[str, Text]] = []
    if evidence.path:
        where = Text(printable(evidence.path), style="bold")
        if evidence.index is not None:
            where.append(f"  at [{', '.join(map(str, evidence.index))}]")
        if evidence.call:
            where.append(f"  (input set {evidence.call})")
        rows.append(("worst" if evidence.index is not None else "where", where))
    for label, number, style in (
        ("eager", evidence.eager, "green"),
        ("compiled", evidence.compiled, "bold red"),
        ("reference", evidence.reference, ""),
    ):
        if number is not None:
            rows.append((label, Text(value(number), style=style)))
    distance = distance_in(evidence)
    if distance is not None:
        rows.append(("off by", Text(f"{distance:.3g}")))
    if evidence.allowed is not None:
        rows.append(("allowed", Text("0 (must be equal)" if evidence.allowed == 0 else f"{evidence.allowed:.3g}")))
    if evidence.wrong_elements or evidence.elements:
        wrong = f"{evidence.wrong_elements:,} of {count(evidence.elements, 'element')}"
        if evidence.unstable_elements:
            wrong += f" ({evidence.unstable_elements:,} unstable, left out)"
        rows.append(("wrong", Text(wrong)))
    if evidence.frames:
        rows.append(("raised in", Text(printable("\n".join(evidence.frames)))))
    return LabelledTexts(rows) if rows else None


def distance_in(evidence: Evidence) -> float | None:
    """|compiled − reference| (eager where there is no reference), when both are finite numbers."""
    against: Any = evidence.reference if evidence.reference is not None else evidence.eager
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (evidence.compiled, against)):
        return None
    distance = abs(evidence.compiled - against)
    return distance if math.isfinite(distance) else None
