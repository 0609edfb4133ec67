"""``eqfuzz report``: write what a run found and did as a file."""

from __future__ import annotations

import datetime

from eqfuzz.cli.findings.lookup import buckets_in, listed_findings, require_one_run
from eqfuzz.cli.options.common import KnownIssueFiles, NoKnownIssues
from eqfuzz.cli.options.reporting import HtmlFile, ReportedRun
from eqfuzz.cli.options.values import BadOption, known_issues_of, require_writable_file
from eqfuzz.errors import UsageError


def report(
    run: ReportedRun,
    html: HtmlFile = None,
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
) -> None:
    """Write a report about a run.

    The run may be finished, interrupted, or still running: of mutate, campaign, generate or config. The HTML file needs
    no other file and loads nothing.

    Exit codes: 0 written, 2 no such run, or the file cannot be written.
    """
    if html is None:
        raise BadOption("--html", "nothing is written without it: give the file to write, as in --html report.html")
    require_writable_file("--html", html)
    if not run.is_dir():
        raise BadOption("RUN", f"{run}: no such folder")
    require_one_run(run, "RUN")

    import eqfuzz
    from eqfuzz.atomic_file import write_atomically
    from eqfuzz.report.html.page import html_page
    from eqfuzz.report.html.stored_run import read_record

    listed = listed_findings(run, known_issues_of(known_issues, no_known_issues))
    try:
        record = read_record(run)
    except OSError as error:
        raise UsageError(f"{error.filename or run}: cannot be read: {error.strerror}") from None
    if not (record.calls or record.matrix or (run / "findings").is_dir()):
        raise BadOption("RUN", f"{run} is no run: it has no findings and no events")
    now = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    page = html_page(record, listed, buckets_in(run).all, f"Written by eqfuzz {eqfuzz.__version__} on {now}")
    try:
        write_atomically(html, page)
    except OSError as error:
        raise BadOption("--html", f"{html}: {error.strerror}") from None
    print(f"{html}: written, {len(page.encode()) / 1000:,.0f} kB")
