"""JUnit XML of a run: one test case per seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path, PurePath
from xml.etree import ElementTree

from eqfuzz.atomic_file import replacement_of
from eqfuzz.closeable import Closeable
from eqfuzz.events.campaign import CampaignStarted, CampaignSummary, ItemEnded
from eqfuzz.events.event import Event
from eqfuzz.events.run import FindingReported, InvalidReason, SeedDone, SeedInvalid, Summary
from eqfuzz.report.formatting import printable
from eqfuzz.report.run.finding_panel import one_line
from eqfuzz.report.run.invalid_seeds import reason_lines
from eqfuzz.triage.findings.severity import Severity


@dataclasses.dataclass(frozen=True)
class _CaseElement:
    """An element of a seed's test case; ``severity`` of a new finding."""

    element: ElementTree.Element
    severity: Severity | None = None


class JUnitFile(Closeable):
    """Collects events, and writes ``path`` when it is closed; a context manager.

    New findings are failures, the most severe of a seed first, with its ``severity`` as a property of the test case.
    Invalid seeds are skipped, internal errors are errors, findings of known issues go into the seed's output.
    Properties of the suite give the number of invalid seeds and the reasons. ``close`` raises OSError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cases: list[ElementTree.Element] = []
        self._open: dict[int, list[_CaseElement]] = {}
        self._seconds = 0.0
        self._invalid: Sequence[InvalidReason] = ()
        self._seconds_of: dict[int, float] | None = None

    def handle(self, event: Event) -> None:
        """Take one event. Not to be called by two threads at once."""
        match event:
            case FindingReported(index=index, issue=issue, folder=folder):
                tag = "system-out" if issue else "failure"
                element = _element(tag, f"{one_line(event)}\n{issue or folder}")
                if not issue:
                    element.set("type", str(event.finding.verdict.kind))
                    element.set("message", printable(event.finding.verdict.in_words))
                self._open.setdefault(index, []).append(
                    _CaseElement(element, None if issue else event.finding.severity)
                )
            case SeedInvalid(index=index, reason=reason):
                skipped = _element("skipped", "")
                skipped.set("message", printable(reason))
                self._open.setdefault(index, []).append(_CaseElement(skipped))
            case CampaignStarted():
                self._seconds_of = {}
            case SeedDone(index=index, seconds=seconds) if self._seconds_of is not None:
                self._seconds_of[index] = seconds  # a campaign reports its findings afterwards
            case SeedDone(index=index, seed=seed, seconds=seconds):
                self._add(seed, seconds, self._open.pop(index, []))
            case ItemEnded(index=index, seed=seed, state=state, reason=reason):
                elements = self._open.pop(index, [])
                elements += [_CaseElement(_element("error", reason))] if state in ("error", "lost") else []
                self._add(seed, (self._seconds_of or {}).pop(index, 0.0), elements)
            case Summary() | CampaignSummary():
                self._seconds, self._invalid = event.seconds, event.invalid_reasons
                for seed in event.left_out if isinstance(event, Summary) else ():
                    skipped = _element("skipped", "")
                    skipped.set("message", "not completed: the run ended before")
                    self._add(seed, 0.0, [_CaseElement(skipped)])
                for error in event.errors:
                    self._add("eqfuzz", 0.0, [_CaseElement(_element("error", error))])
            case _:
                pass

    def close(self) -> None:
        """Write the file atomically."""
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

    def _add(self, seed: str, seconds: float, children: list[_CaseElement]) -> None:
        path = PurePath(seed)
        folder = ".".join(part for part in path.parent.parts if part not in ("/", ".")) or "seeds"
        case = ElementTree.Element("testcase", classname=folder, name=path.name, time=f"{seconds:.3f}")
        children = sorted(children, key=lambda one: one.severity.rank if one.severity is not None else len(Severity))
        if children and children[0].severity is not None:
            case.append(_properties([("severity", str(children[0].severity))]))
        case.extend(one.element for one in children)
        self._cases.append(case)


def _counts(invalid: Sequence[InvalidReason]) -> list[tuple[str, str]]:
    """The number of invalid seeds, and the reasons."""
    number = sum(reason.count for reason in invalid)
    return [("invalid-seeds", str(number)), *(("invalid-reason", line) for line in reason_lines(invalid))]


def _properties(pairs: Sequence[tuple[str, str]]) -> ElementTree.Element:
    properties = ElementTree.Element("properties")
    properties.extend(ElementTree.Element("property", name=name, value=value) for name, value in pairs)
    return properties


def _element(tag: str, text: str) -> ElementTree.Element:
    element = ElementTree.Element(tag)
    element.text = printable(text)
    return element
