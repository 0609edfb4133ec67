"""JUnit XML of a run: one test case per seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from xml.etree import ElementTree

from eqfuzz.events.run import InvalidReason
from eqfuzz.report.formatting import encodable
from eqfuzz.report.machine.reported_finding import ReportedFinding
from eqfuzz.report.machine.run_record import RunRecord, SeedRecord
from eqfuzz.report.run.invalid_seeds import reason_lines


def junit_xml(record: RunRecord) -> str:
    """The text of the file.

    New findings are failures, the most severe of a seed first, with its ``severity`` as a property of the test case.
    Invalid seeds are skipped, internal errors are errors, findings of known issues go into the seed's output.
    Properties of the suite give the number of invalid seeds and the reasons.
    """
    seeds = [*record.seeds, *(SeedRecord("eqfuzz", error=error) for error in record.errors)]
    cases = [_case(seed) for seed in seeds]
    seconds = record.end.seconds if record.end is not None else 0.0
    suite = ElementTree.Element("testsuite", name="eqfuzz", tests=str(len(cases)), time=f"{seconds:.3f}")
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.append(_properties(_counts(record.invalid_reasons)))
    suite.extend(cases)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _case(seed: SeedRecord) -> ElementTree.Element:
    path = PurePath(encodable(seed.seed))
    folder = ".".join(part for part in path.parent.parts if part not in ("/", ".")) or "seeds"
    case = ElementTree.Element("testcase", classname=folder, name=path.name, time=f"{seed.seconds:.3f}")
    new = sorted((one for one in seed.findings if one.is_new), key=lambda one: one.rank)
    if new and new[0].severity is not None:
        case.append(_properties([("severity", str(new[0].severity))]))
    case.extend(_failure(one) for one in new)
    case.extend(_element("system-out", one.line) for one in seed.findings if not one.is_new)
    if seed.skipped:
        skipped = ElementTree.SubElement(case, "skipped")
        skipped.set("message", encodable(seed.skipped))
    if seed.error:
        case.append(_element("error", seed.error))
    return case


def _failure(finding: ReportedFinding) -> ElementTree.Element:
    failure = _element("failure", finding.line)
    failure.set("type", finding.kind)
    failure.set("message", encodable(finding.message))
    return failure


def _counts(invalid: Sequence[InvalidReason]) -> list[tuple[str, str]]:
    """The number of invalid seeds, and the reasons."""
    number = sum(reason.count for reason in invalid)
    return [("invalid-seeds", str(number)), *(("invalid-reason", line) for line in reason_lines(invalid))]


def _properties(pairs: Sequence[tuple[str, str]]) -> ElementTree.Element:
    properties = ElementTree.Element("properties")
    properties.extend(ElementTree.Element("property", name=name, value=encodable(value)) for name, value in pairs)
    return properties


def _element(tag: str, text: str) -> ElementTree.Element:
    element = ElementTree.Element(tag)
    element.text = encodable(text)
    return element
