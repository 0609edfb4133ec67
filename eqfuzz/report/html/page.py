"""The page: one HTML file without references to others, whose style and script are named in its security policy."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from eqfuzz.oracle.compare.verdict import FINDINGS
from eqfuzz.program.release import Release
from eqfuzz.report.charts import Series, line_chart
from eqfuzz.report.formatting import count, duration, named_versions, value
from eqfuzz.report.html.bucket_card import BucketCard, cards_of, shown_path
from eqfuzz.report.html.code import diff, excerpt, highlighted, is_shown_exactly, plain_text
from eqfuzz.report.html.gaps import MOST_NAMES, gaps_of
from eqfuzz.report.html.html_table import (
    columns_of,
    group_tables,
    reward_table,
    timing_rows,
    verdict_table,
)
from eqfuzz.report.html.pictures import block_in_words, error_picture, histogram, shape_in_words
from eqfuzz.report.html.stored_run import StoredRun, valid_seeds
from eqfuzz.report.run.finding_panel import distance_in
from eqfuzz.report.run.findings import ListedFinding
from eqfuzz.report.verdict_texts import MEANING, SEVERITY
from eqfuzz.triage.findings.buckets import Bucket
from eqfuzz.triage.findings.severity import Severity, counted

MOST_BYTES = 2_000_000

MOST_CARDS = 300
"""Buckets that are shown: more are too large in any case."""

_HERE = Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class _Detail:
    """How much is shown: ``cards`` buckets, ``complete`` of them with code and pictures, and whether all operators."""

    cards: int
    complete: int
    operators: bool = True

    def less(self) -> Iterator[_Detail]:
        """Ever less: first code and pictures, then operators that agree, at last buckets."""
        detail = self
        while detail.complete > 1:
            detail = dataclasses.replace(detail, complete=detail.complete // 2)
            yield detail
        detail = dataclasses.replace(detail, operators=False)
        yield detail
        while detail.cards > 1:
            detail = dataclasses.replace(detail, cards=detail.cards // 2)
            yield detail


def html_page(record: StoredRun, listed: Sequence[ListedFinding], buckets: Mapping[str, Bucket], origin: str) -> str:
    """The page about a run, smaller than ``MOST_BYTES``; ``origin`` says by what and when."""
    cards = cards_of(record.folder, listed, buckets)
    new, issues = [card for card in cards if not card.issue], [card for card in cards if card.issue]
    whole = _Detail(min(len(cards), MOST_CARDS), min(len(cards), MOST_CARDS))
    fixed = _fixed_parts(record, listed, [*new, *issues], origin)
    template = _environment().get_template("page.html.j2")
    text = ""
    for detail in (whole, *whole.less()):
        text = template.render(**fixed, **_cards_shown(new, issues, detail), **_matrix_shown(record, detail)).lstrip()
        if len(text.encode()) < MOST_BYTES:
            break
    return text


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plain_text(value) if type(value) is str else value,
    )
    environment.globals.update(
        block_in_words=block_in_words,
        count=count,
        diff=diff,
        distance_in=distance_in,
        error_picture=error_picture,
        excerpt=excerpt,
        highlighted=highlighted,
        histogram=histogram,
        is_shown_exactly=is_shown_exactly,
        most_names=MOST_NAMES,
        shape_in_words=shape_in_words,
        value=lambda scalar: value(scalar)[:500],
        defects=frozenset(map(str, FINDINGS)),
    )
    return environment


def _fixed_parts(
    record: StoredRun, listed: Sequence[ListedFinding], cards: Sequence[BucketCard], origin: str
) -> dict[str, Any]:
    """What every page about the run has, whatever its detail."""
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    findings = [one.finding for one in listed]
    new = [card for card in cards if not card.issue]
    dropped = sum(card.dropped for card in cards)
    return {
        "style": Markup(style),  # files of this package
        "script": Markup(script),
        "style_hash": _digest(style),
        "script_hash": _digest(script),
        "origin": origin,
        "name": record.folder.absolute().name,
        "run": shown_path(record.folder),
        "quoted_run": shlex.quote(shown_path(record.folder)),
        "record": record,
        "valid": valid_seeds(record),
        "severities": counted(card.severity for card in new),
        "severity_names": {str(severity): name for severity, name in SEVERITY.items()},
        "meaning": {str(kind): text for kind, text in MEANING.items()},
        "gaps": gaps_of(record, listed, dropped),
        "dropped": dropped,
        "began": _began(record),
        "timings": timing_rows(record),
        "verdicts": verdict_table(record),
        "groups": group_tables(record),
        "rewards": reward_table(record),
        "curves": _curves(record),
        "versions": _versions(record, findings),
        "platforms": sorted({finding.environment.platform for finding in findings if finding.environment.platform}),
        "choices": {
            "severity": [(str(one), SEVERITY[one]) for one in Severity if any(card.severity == one for card in cards)],
            "verdict": [(kind, kind) for kind in sorted({kind for card in cards for kind in card.kinds})],
            "stage": [(stage, stage) for stage in sorted({card.stage for card in cards})],
        },
    }


def _cards_shown(new: Sequence[BucketCard], issues: Sequence[BucketCard], detail: _Detail) -> dict[str, Any]:
    new_shown = new[: detail.cards]
    known_shown = issues[: detail.cards - len(new_shown)]
    both = [*new_shown, *known_shown]
    return {
        "new": new_shown,
        "known": known_shown,
        "new_number": len(new),
        "known_number": len(issues),
        "complete": {card.name for card in both[: detail.complete]},
        "shortened": max(0, len(both) - detail.complete),
    }


def _matrix_shown(record: StoredRun, detail: _Detail) -> dict[str, Any]:
    operators: Mapping[str, Mapping[str, Mapping[str, int]]] = record.matrix.get("operators", {})
    differing = {
        name: columns for name, columns in operators.items() if any(set(one) != {"agree"} for one in columns.values())
    }
    rows = operators if detail.operators else differing
    return {"operators": rows, "columns": columns_of(operators), "operators_left_out": len(operators) - len(rows)}


def _curves(record: StoredRun) -> list[tuple[str, Markup]]:
    """Findings, and of campaigns coverage, over time; charts with their descriptions."""
    charts: list[tuple[str, Markup]] = []
    if record.curve:
        *_, (_, findings, buckets) = record.curve
        series = [
            Series("findings, known issues too", 1, points=_steps(record, 1)),
            Series("their buckets", 0, points=_steps(record, 2)),
        ]
        words = (
            f"{count(findings, 'finding')} in {count(buckets, 'bucket')} after {count(record.cells, 'compiled cell')}"
        )
        charts.append((words, _chart("Findings over compiled cells", "compiled cells", "findings", series)))
    for name, words in (("features", "features reached"), ("lines", "lines of the compiler executed")):
        points = tuple((point.get("seconds", 0.0) / 60, float(point.get(name, 0))) for point in record.epochs)
        if any(y for _, y in points):
            chart = _chart(words.capitalize(), "minutes", name, [Series(words, 2, points=((0.0, 0.0), *points))])
            charts.append((f"{points[-1][1]:,.0f} {words} after {duration(60 * points[-1][0])}", chart))
    return charts


def _steps(record: StoredRun, column: int) -> tuple[tuple[float, float], ...]:
    """The points of a curve that rises at each finding, up to the last cell."""
    points = [(0.0, 0.0)]
    for point in record.curve:
        points += [(float(point[0]), points[-1][1]), (float(point[0]), float(point[column]))]
    return (*points, (float(max(record.cells, 1)), points[-1][1]))


def _chart(title: str, x_axis: str, y_axis: str, series: Sequence[Series]) -> Markup:
    """A chart that is hidden from screen readers, for it is described beside it."""
    return Markup(line_chart(title, x_axis, y_axis, series).replace("<svg ", '<svg aria-hidden="true" ', 1))


def _versions(record: StoredRun, findings: Sequence[Any]) -> str:
    if record.start.get("versions"):
        return named_versions(record.start["versions"])
    releases = dict.fromkeys(
        named_versions(
            {"eqfuzz": one.environment.eqfuzz, **_of(one.environment.release), "python": one.environment.python}
        )
        for one in findings
    )
    return "; ".join(releases)


def _of(release: Release) -> Mapping[str, str]:
    return release.to_versions()


def _began(record: StoredRun) -> str:
    """Day and time of the call, as far as they are recorded."""
    seconds = record.command.get("time")
    if not isinstance(seconds, int | float):
        return ""
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _digest(text: str) -> str:
    """The name of an inline text in a security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
