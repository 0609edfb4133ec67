"""``eqfuzz known``: the list of known issues."""

from __future__ import annotations

import datetime

import typer

from eqfuzz.cli.findings.lookup import finding_in, folder_of
from eqfuzz.cli.options.common import OUT, RunFolder
from eqfuzz.cli.options.findings import (
    FindingId,
    IssueAccess,
    IssueDirection,
    IssueExpiry,
    IssueFile,
    IssueRegex,
    IssueTitle,
    IssueTorch,
    IssueUrl,
)
from eqfuzz.errors import UsageError

known_verbs = typer.Typer(
    help="Keep the list of known issues.\n\nThey are reported defects, whose findings are counted apart.",
    no_args_is_help=True,
)


@known_verbs.command("add")
def add(
    id: FindingId,
    url: IssueUrl,
    out: RunFolder = OUT,
    title: IssueTitle = "",
    regex: IssueRegex = "",
    expires: IssueExpiry = None,
    torch: IssueTorch = "",
    direction: IssueDirection = None,
    access: IssueAccess = None,
    file: IssueFile = None,
) -> None:
    """Add a finding's defect to the known issues.

    All findings with its fingerprint are known from then on. The seed is recorded where it shows the defect as it is:
    later runs report that the issue no longer reproduces where that seed compiles correctly.

    Exit codes: 0 added, 2 no such finding, or it cannot be added.
    """
    import pydantic

    from eqfuzz.triage.findings.known_issues import USUAL, KnownIssue, append, reproducing_seeds

    finding = finding_in(folder_of(id, out))
    if not regex and not finding.fingerprint:
        raise UsageError(f"{finding.id} has no fingerprint: it was not located; give a --regex")
    try:
        issue = KnownIssue(
            url=url,
            added=datetime.date.today(),
            title=title,
            regex=regex,
            fingerprint="" if regex else finding.fingerprint,
            expires=expires.date() if expires is not None else None,
            torch=torch,
            direction=direction.value if direction is not None else "",
            access=access.value if access is not None else "",
            seeds=reproducing_seeds(finding),
        )
        misfit = issue.misfit(finding)
        if misfit:
            raise UsageError(f"--{misfit} {finding.id}")
        append(file or USUAL, issue)
    except pydantic.ValidationError as error:
        raise UsageError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from None
    print(f"{file or USUAL}: {issue.fingerprint or issue.regex}  {url}")
    for name in issue.seeds:
        print(f"  shown by {name}")


@known_verbs.command("list")
def list_issues(file: IssueFile = None) -> None:
    """List the known issues, shipped ones first.

    Exit codes: 0 listed, 2 a list that cannot be read.
    """
    from rich.text import Text

    from eqfuzz.report.terminal import make_console
    from eqfuzz.triage.findings.known_issues import known_issue_files, read_known_issues

    try:
        issues = read_known_issues(known_issue_files([file] if file is not None else []))
    except ValueError as error:
        raise UsageError(str(error)) from None
    console = make_console()
    today = datetime.date.today()
    for issue in issues:
        until = f"  until {issue.expires}" if issue.expires else ""
        state = " expired" if issue.has_expired(today) else until
        conditions = {"torch": issue.torch, "direction": issue.direction, "access": issue.access}
        state += "".join(f"  {name} {value}" for name, value in conditions.items() if value)
        console.print(Text.assemble((issue.url, "bold"), f"  {issue.title}", (state, "yellow")), soft_wrap=True)
        console.print(Text(f"  {issue.fingerprint or issue.regex}", style="dim"), soft_wrap=True)
