"""Annotations of GitHub Actions: workflow commands that mark lines of the checked out files.

GitHub shows ten errors of a step, so there is one for each bucket, and the last one stands for those that are left.
"""

from __future__ import annotations

import re

from eqfuzz.errors import one_line
from eqfuzz.report.formatting import count, encodable
from eqfuzz.report.machine.file_location import relative
from eqfuzz.report.machine.reported_finding import ReportedFinding, by_group
from eqfuzz.report.machine.run_facts import facts, headline
from eqfuzz.report.machine.run_record import RunRecord
from eqfuzz.triage.findings.severity import Severity

SHOWN = 10
"""Annotations of one level that GitHub shows for a step."""

_LIMIT = 600
"""Characters of a message."""


def workflow_commands(record: RunRecord) -> list[str]:
    """The commands, a line each: errors and warnings for new buckets, and a notice of what was run."""
    commands = [_of_bucket(findings) for findings in by_group(record.new)]
    if len(commands) > SHOWN:
        left = len(commands) - SHOWN + 1
        commands = [*commands[: SHOWN - 1], _command("error", "eqfuzz", f"and {count(left, 'more bucket')}")]
    commands += [_command("error", "eqfuzz: internal error", error) for error in record.all_errors[:SHOWN]]
    run = facts(record)
    amounts = [
        f"{label}: {run[label]}" for label in ("base", "head", "programs", "samples", "compiled cells") if label in run
    ]
    return [*commands, _command("notice", "eqfuzz", "; ".join([headline(record), *amounts]))]


def _of_bucket(findings: list[ReportedFinding]) -> str:
    first = findings[0]
    others = f" ({count(len(findings) - 1, 'more finding')} of this bucket)" if findings[1:] else ""
    place = f" [{first.finding.place}]" if first.finding is not None and first.finding.place else ""
    title = f"{first.kind}{f' {first.bucket}' if first.bucket else ''}{place}"
    level = "warning" if first.severity is Severity.METADATA else "error"
    text = f"{first.message}{others}; script: {relative(str(first.script))}"
    return _command(level, title, text, file=first.location.path, line=str(first.location.line))


def _command(level: str, title: str, message: str, **places: str) -> str:
    """A command with its values escaped as the runner decodes them."""
    properties = {**places, "title": one_line(title)}
    written = ",".join(f"{name}={_of_property(value)}" for name, value in properties.items())
    return f"::{level} {written}::{_of_message(one_line(message, _LIMIT))}"


def _of_message(text: str) -> str:
    """The runner ends a command at a line break, and decodes ``%``."""
    clean = re.sub("[\u2028\u2029]", " ", encodable(text))
    return clean.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_property(text: str) -> str:
    """Properties end at ``:`` and ``,`` as well."""
    return _of_message(text).replace(":", "%3A").replace(",", "%2C")
