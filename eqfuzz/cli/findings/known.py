"""``eqfuzz known``: defects that are reported already."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.findings.lookup import OUT, FindingId, RunFolder, finding_in, folder_of

known = typer.Typer(help="Defects that are reported already: their findings are counted apart.", no_args_is_help=True)

File = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="The list (default: ./known-issues.toml).")]


@known.command("add")
def add(
    id: FindingId,
    url: Annotated[str, typer.Option(metavar="URL", help="Where it is reported.")],
    out: RunFolder = OUT,
    title: Annotated[str, typer.Option(metavar="TEXT", help="A few words on it.")] = "",
    regex: Annotated[str, typer.Option(metavar="REGEX", help="Know it by this instead of its fingerprint.")] = "",
    expires: Annotated[
        datetime.datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="From this day on it counts as new again: 2027-06-30."),
    ] = None,
    torch: Annotated[
        str, typer.Option(metavar="RANGE", help="Releases that have it: '>=2.13,<2.15' (default: all).")
    ] = "",
    file: File = None,
) -> None:
    """Note that a finding's defect is reported; all findings of its fingerprint are known then.

    Exit codes: 0 noted, 2 no such finding, or it cannot be noted.
    """
    import pydantic

    from eqfuzz.triage.findings.known_issues import USUAL, KnownIssue, append

    finding = finding_in(folder_of(id, out))
    if not regex and not finding.fingerprint:
        complain(f"{finding.id} has no fingerprint: it was not placed; give a --regex")
        raise typer.Exit(USAGE)
    today = datetime.date.today()
    try:
        issue = KnownIssue(
            url=url,
            added=today,
            title=title,
            regex=regex,
            fingerprint="" if regex else finding.fingerprint,
            expires=expires.date() if expires is not None else None,
            torch=torch,
        )
        if not issue.fits(finding):
            complain(f"{'--regex' if regex else '--torch'}: it does not fit {finding.id}")
            raise typer.Exit(USAGE)
        append(file or USUAL, issue)
    except pydantic.ValidationError as error:
        complain(error.errors()[0]["msg"].removeprefix("Value error, "))
        raise typer.Exit(USAGE) from None
    except (ValueError, OSError) as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    print(f"{file or USUAL}: {issue.fingerprint or issue.regex}  {url}")


@known.command("list")
def show_all(file: File = None) -> None:
    """List the known issues, the shipped ones first.

    Exit codes: 0 listed, 2 a list that cannot be read.
    """
    from rich.console import Console
    from rich.text import Text

    from eqfuzz.triage.findings.known_issues import known_issue_files, read_known_issues

    try:
        issues = read_known_issues(known_issue_files([file] if file is not None else []))
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    console = Console(highlight=False)
    today = datetime.date.today()
    for issue in issues:
        until = f"  until {issue.expires}" if issue.expires else ""
        state = " expired" if issue.has_expired(today) else until
        narrowed = {"torch": issue.torch, "direction": issue.direction, "access": issue.access}
        state += "".join(f"  {name} {value}" for name, value in narrowed.items() if value)
        console.print(Text.assemble((issue.url, "bold"), f"  {issue.title}", (state, "yellow")), soft_wrap=True)
        console.print(Text(f"  {issue.fingerprint or issue.regex}", style="dim"), soft_wrap=True)
