"""Results of detection runs as text: one line each, and the closing table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.table import Table

from tools.fault_detection.detection.result import DetectionResult
from tools.fault_detection.detection.triage import TriageResult


def clean_line(result: DetectionResult) -> str:
    """The line of the clean run."""
    alarm = f"a false alarm from {result.detection.seed}" if result.detection is not None else "no false alarm"
    findings = f"{result.passed_over} findings of torch's own defects"
    return f"no fault: {alarm}, {findings}, {result.cells} cells, {result.seconds:.0f} s{_error(result.error)}"


def result_line(result: DetectionResult) -> str:
    """The line of a fault; with triage, a second line."""
    status = "missed"
    if result.detection is not None:
        status = f"found  {result.detection.verdict} from {result.detection.seed} ({result.detection.phase})"
    line = f"{result.name:44} {status}, {_cells(result)} cells, {result.seconds:.0f} s{_error(result.error)}"
    return line if result.triage is None else f"{line}\n    {_triage_part(result.triage)}"


def result_table(results: Sequence[DetectionResult]) -> Table:
    """A row for each fault."""
    heads = ("fault", "kind", "issue", "", "verdict", "stage", "config", "cells", "s", "rewrite needed")
    table = Table(*heads, title="planted faults")
    for result in results:
        detection, fault = result.detection, result.fault
        assert fault is not None
        status, rewrites = ("missed", "", "", ""), ""
        if detection is not None:
            status = "found", detection.verdict, detection.stage, detection.config
            rewrites = f"yes ({len(detection.rules)})" if detection.rules else "no"
        row = (fault.name, fault.kind, fault.issue_number, *status)
        table.add_row(*row, _cells(result), f"{result.seconds:.0f}", rewrites)
    return table


def triage_line(results: Sequence[TriageResult]) -> str:
    """How well triage did over all detections."""
    sizes = sorted(result.statements for result in results if result.statements is not None)
    parts = (
        f"stage right in {sum(result.is_right for result in results)} of {len(results)}",
        f"{len(sizes)} reduced, to {statistics.median(sizes) if sizes else '-'} statements on the median",
        f"at most 6 in {sum(size <= 6 for size in sizes)}",
        f"one rewrite or none left in {sum(r.rewrites is not None and r.rewrites < 2 for r in results)}",
        f"scripts right with and without the fault: {sum(result.fails and result.passes for result in results)}",
    )
    return "; ".join(parts)


def _triage_part(result: TriageResult) -> str:
    part = f"{result.place}: {result.statements} statements, {result.rewrites} rewrites, {result.seconds:.0f} s"
    if not result.is_right:
        part += f"; stage {result.stage or 'unknown'}, not {' or '.join(result.right_stages)}"
    if not (result.fails and result.passes):
        part += f"; script fails: {result.fails}, passes without: {result.passes}"
    return part + _error(result.error)


def _error(text: str) -> str:
    return f"  [{text}]" if text else ""


def _cells(result: DetectionResult) -> str:
    """The cells that were judged, and those that a run without coverage of the fault would have judged besides."""
    return f"{result.cells} + {result.spared}" if result.spared else str(result.cells)
