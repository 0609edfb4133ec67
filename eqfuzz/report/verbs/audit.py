"""Reports of ``eqfuzz audit``: console and JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from rich.console import Console
from rich.text import Text

from eqfuzz.commands.audit import FileAudit
from eqfuzz.oracle.audit.suspect import Suspect
from eqfuzz.report.formatting import count, printable
from eqfuzz.report.layout import print_text


class AuditReport:
    """Prints each outcome at once; ``close`` prints the totals."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._files = self._suspects = self._operators = 0
        self._skipped: Counter[str] = Counter()

    def handle(self, audited: FileAudit) -> None:
        """One line for the file, then its suspects in the order of the program."""
        self._files += 1
        suspects = audited.audit.suspects if audited.audit is not None else ()
        mark, style = ("✗", "bold red") if suspects else ("?", "bold yellow") if audited.ended else ("✓", "bold green")
        self._print(
            Text.assemble((f"{mark} ", style), (printable(str(audited.path)), "bold"), f"  {_outcome(audited)}")
        )
        if audited.verdict is not None and audited.verdict.is_finding:
            self._print(Text(f"    as a whole {audited.verdict.kind}: {printable(audited.verdict.message)}", "yellow"))
        if audited.audit is not None:
            self._suspects += len(suspects)
            self._operators += audited.audit.audited
            self._skipped.update(audited.audit.skipped)
        for suspect in suspects:
            self._suspect(suspect)

    def close(self) -> None:
        """Print the totals, and why operators were not judged."""
        total = f"{count(self._suspects, 'suspect')}  ·  {count(self._operators, 'operator')} judged in "
        self._print(Text(total + count(self._files, "file"), style="bold"))
        for reason, number in self._skipped.most_common():
            self._print(Text(f"  {count(number, 'operator')} not judged: {printable(reason)}", style="dim"))

    def _suspect(self, suspect: Suspect) -> None:
        place, wrong = suspect.place, suspect.disagreement
        where = f"line {place.line}" if place.line else "unknown line"
        head = Text.assemble(
            "    ", (suspect.operator, "bold magenta"), f"  {where}  ", (printable(place.text), "cyan")
        )
        self._print(head)
        shape = "×".join(map(str, wrong.shape)) or "a scalar"
        graph = f"{suspect.kind} graph {suspect.graph}"
        self._print(Text(f"      {suspect.expression}  ({wrong.dtype}, {shape}, {graph})", style="dim"))
        index = f"[{', '.join(map(str, wrong.evidence.index))}]  " if wrong.evidence.index else ""
        self._print(Text(f"      {index}{printable(wrong.message)}"))

    def _print(self, text: Text) -> None:
        print_text(self._console, text)


class AuditLines:
    """A line of JSON for each outcome (``audited``), a ``summary`` last."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._files = self._suspects = self._operators = 0

    def handle(self, audited: FileAudit) -> None:
        audit = audited.audit
        self._files += 1
        self._suspects += 0 if audit is None else len(audit.suspects)
        self._operators += 0 if audit is None else audit.audited
        verdict = None if audited.verdict is None else audited.verdict.to_json()
        fields = None if audit is None else audit.to_json()
        self._line("audited", file=str(audited.path), verdict=verdict, audit=fields, ended=audited.ended)

    def close(self) -> None:
        self._line("summary", files=self._files, suspects=self._suspects, audited=self._operators)

    def _line(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), file=self._stream, flush=True)


def _outcome(audited: FileAudit) -> str:
    if audited.ended:
        return printable(audited.ended)
    audit = audited.audit
    if audit is None:
        return "the runner ended without an audit"
    line = f"{count(len(audit.suspects), 'suspect')}  ·  {count(audit.audited, 'operator')} judged in "
    line += count(audit.graphs, "graph")
    return f"{line}  ·  it raises {printable(audit.raised)}" if audit.raised else line
