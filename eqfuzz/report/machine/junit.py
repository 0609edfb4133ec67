"""A run as JUnit XML, which continuous integration shows: a test case for each seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path, PurePath
from xml.etree import ElementTree

from eqfuzz.atomic_file import replacement_of
from eqfuzz.events.campaign import CampaignStarted, CampaignSummary, ItemEnded
from eqfuzz.events.event import Event
from eqfuzz.events.run import FindingReported, InvalidReason, SeedDone, SeedInvalid, Summary
from eqfuzz.report.formatting import printable
from eqfuzz.report.run.finding_panel import one_line
from eqfuzz.report.run.invalid_seeds import reason_lines
from eqfuzz.triage.findings.severity import Severity


@dataclasses.dataclass(frozen=True)
class _Child:
    """An element of a seed's test case; ``severity`` where it is a new finding."""

    element: ElementTree.Element
    severity: Severity | None = None


class JUnitFile:
    """A handler of events that writes ``path`` when it is closed; a context manager.

    New findings are failures, the gravest of a seed first, and a property of the test case is its ``severity``;
    invalid seeds are skipped, eqfuzz's own breakdowns are errors; a finding of a known issue
    is told in the seed's output. Properties of the suite say how many seeds are invalid, and why. Raises OSError at
    the end where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cases: list[ElementTree.Element] = []
        self._open: dict[int, list[_Child]] = {}
        self._seconds = 0.0
        self._invalid: Sequence[InvalidReason] = ()
        self._seconds_of: dict[int, float] | None = None

    def __enter__(self) -> JUnitFile:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def handle(self, event: Event) -> None:
        """Take one event. Not to be called by two threads at once."""
        match event:
            case FindingReported(index=index, issue=issue, folder=folder):
                tag = "system-out" if issue else "failure"
                told = _element(tag, f"{one_line(event)}\n{issue or folder}")
                if not issue:
                    told.set("type", str(event.finding.verdict.kind))
                    told.set("message", printable(event.finding.verdict.message))
                self._open.setdefault(index, []).append(_Child(told, None if issue else event.finding.severity))
            case SeedInvalid(index=index, reason=reason):
                skipped = _element("skipped", "")
                skipped.set("message", printable(reason))
                self._open.setdefault(index, []).append(_Child(skipped))
            case CampaignStarted():
                self._seconds_of = {}
            case SeedDone(index=index, seconds=seconds) if self._seconds_of is not None:
                self._seconds_of[index] = seconds  # a campaign tells its findings after that
            case SeedDone(index=index, seed=seed, seconds=seconds):
                self._add(seed, seconds, self._open.pop(index, []))
            case ItemEnded(index=index, seed=seed, state=state, reason=reason):
                told = self._open.pop(index, [])
                told += [_Child(_element("error", reason))] if state in ("error", "lost") else []
                self._add(seed, (self._seconds_of or {}).pop(index, 0.0), told)
            case Summary() | CampaignSummary():
                self._seconds, self._invalid = event.seconds, event.invalid_reasons
                for error in event.errors:
                    self._add("eqfuzz", 0.0, [_Child(_element("error", error))])
            case _:
                pass

    def close(self) -> None:
        """Write the file: whole, or not at all."""
        suite = ElementTree.Element(
            "testsuite", name="eqfuzz", tests=str(len(self._cases)), time=f"{self._seconds:.3f}"
        )
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(name, str(sum(case.find(tag) is not None for case in self._cases)))
        suite.append(_properties(_counts(self._invalid)))
        suite.extend(self._cases)
        root = ElementTree.Element("testsuites")
        root.append(suite)
        ElementTree.indent(root)
        with replacement_of(self._path) as file:
            ElementTree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)

    def _add(self, seed: str, seconds: float, children: list[_Child]) -> None:
        path = PurePath(seed)
        folder = ".".join(part for part in path.parent.parts if part not in ("/", ".")) or "seeds"
        case = ElementTree.Element("testcase", classname=folder, name=path.name, time=f"{seconds:.3f}")
        children = sorted(children, key=lambda one: one.severity.rank if one.severity is not None else len(Severity))
        if children and children[0].severity is not None:
            case.append(_properties([("severity", str(children[0].severity))]))
        case.extend(one.element for one in children)
        self._cases.append(case)


def _counts(invalid: Sequence[InvalidReason]) -> list[tuple[str, str]]:
    """How many seeds are invalid, and why."""
    told = [("invalid-seeds", str(sum(reason.count for reason in invalid)))]
    return told + [("invalid-reason", line) for line in reason_lines(invalid)]


def _properties(pairs: Sequence[tuple[str, str]]) -> ElementTree.Element:
    properties = ElementTree.Element("properties")
    properties.extend(ElementTree.Element("property", name=name, value=value) for name, value in pairs)
    return properties


def _element(tag: str, text: str) -> ElementTree.Element:
    element = ElementTree.Element(tag)
    element.text = printable(text)
    return element
