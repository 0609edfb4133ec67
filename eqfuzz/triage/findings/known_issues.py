"""Known issues: reported defects, read from ``known-issues.toml`` files, one of which is shipped."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import pydantic

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.release import Release, checked_range
from eqfuzz.program.toml_values import toml_value
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.fingerprint import SEPARATOR, changed_by
from eqfuzz.triage.findings.program_features import IN_PLACE

SHIPPED = Path(__file__).with_name("known-issues.toml")
USUAL = Path("known-issues.toml")
"""The list in the current folder, if there is one; ``eqfuzz known add`` writes to it."""


class KnownIssue(pydantic.BaseModel):
    """One entry. Findings match it by ``fingerprint`` or by ``regex``, of which exactly one is given.

    Attributes:
        url: Address of the issue.
        added: The day on which it was added.
        fingerprint: That of the findings.
        regex: Pattern that is searched in the findings' ``searched_text``.
        title: What the issue is about, one line.
        expires: The day from which on the entry is ignored; None: never.
        torch: Range of releases with the defect (``>=2.13,<2.15``; empty: all); findings of other releases never match.
        direction: Restricts it, see ``direction_of``.
        access: Restricts it, see ``access_of``.
        seeds: Names of seed files that reproduce it as they are: where such a seed is compiled and agrees, the issue no
            longer reproduces.
        not_seeds: Names of seed files whose findings look like it and are another defect.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    url: str
    added: datetime.date
    fingerprint: str = ""
    regex: str = ""
    title: str = ""
    expires: datetime.date | None = None
    torch: str = ""
    direction: Literal["", "forward", "gradient"] = ""
    access: Literal["", "read", "write"] = ""
    seeds: tuple[str, ...] = ()
    not_seeds: tuple[str, ...] = ()

    @pydantic.model_validator(mode="after")
    def _one_of_both(self) -> KnownIssue:
        if bool(self.fingerprint) == bool(self.regex):
            raise ValueError("give either a fingerprint or a regex")
        try:
            re.compile(self.regex)
        except re.error as error:
            raise ValueError(f"regex: {error}") from None
        return self

    @pydantic.field_validator("torch")
    @classmethod
    def _is_a_range(cls, torch: str) -> str:
        return checked_range(torch)

    def fits(self, finding: Finding) -> bool:
        """Whether it matches ``finding``, expired or not."""
        return not self.misfit(finding)

    def misfit(self, finding: Finding) -> str:
        """The first field that does not fit, and why, as the beginning of a sentence about ``finding``; else empty."""
        if not self.is_in(finding.environment.release):
            return "torch: the range leaves out the release of"
        if self.direction not in ("", direction_of(finding)):
            return "direction: is another one in"
        if self.access not in ("", access_of(finding)):
            return "access: is another one in"
        if any(is_named(finding.original.name, seed) for seed in self.not_seeds):
            return "not_seeds: has the seed of"
        if self.fingerprint:
            return "" if self.fingerprint == finding.fingerprint else "fingerprint: is another one in"
        return "" if re.search(self.regex, searched_text(finding)) else "regex: does not match"

    def is_in(self, release: Release) -> bool:
        """Whether ``release`` has the defect; one that was not recorded may have it."""
        return not release.release or release.fits(self.torch)

    def has_expired(self, today: datetime.date) -> bool:
        return self.expires is not None and today >= self.expires


def direction_of(finding: Finding) -> str:
    """``gradient`` where what differs is a gradient, else ``forward``."""
    is_gradients = finding.verdict.kind is VerdictKind.WRONG_GRADIENT or finding.path.startswith("gradient of ")
    return "gradient" if is_gradients else "forward"


def access_of(finding: Finding) -> str:
    """``write`` where a written value is wrong or the reduced program writes, else ``read``."""
    left = finding.fingerprint.split(SEPARATOR)[-1].split(", ")
    return "write" if finding.verdict.kind is VerdictKind.WRONG_SIDE_EFFECT or IN_PLACE in left else "read"


def reproducing_seeds(finding: Finding) -> tuple[str, ...]:
    """The name of the finding's seed where that shows it as it is: not rewritten, by default, on its own inputs.

    A seed below the current folder is named relative to it. Such a seed that compiles correctly later shows that the
    issue no longer reproduces.
    """
    from eqfuzz.run.configs.named import DEFAULT_CONFIG  # here: lists are read without configurations

    by_default = (finding.device, finding.config) == ("cpu", DEFAULT_CONFIG.name)
    was_rewritten = finding.reduced is not None and finding.reduced.rewrites[0] > 0
    if finding.only_transformed or was_rewritten or not by_default or changed_by(finding.verdict):
        return ()
    name = Path(finding.original.name)
    if name.is_absolute() and name.is_relative_to(Path.cwd()):
        name = name.relative_to(Path.cwd())
    return (str(Path(*(part for part in name.parts if part != ".."))),)


def is_named(seed: str, name: str) -> bool:
    """Whether ``name`` in a list, a path or its last parts, means the seed file ``seed``."""
    return f"/{seed}".endswith(f"/{name}")


def searched_text(finding: Finding) -> str:
    """The lines that a ``regex`` is searched in: ``kind: message``, fingerprint, suspects, ``seed: name``."""
    lines = [f"{finding.verdict.kind}: {finding.verdict.in_words}", finding.fingerprint, *finding.suspects]
    lines.append(f"seed: {finding.original.name}")
    return "\n".join(" ".join(line.split()) for line in lines)


class _KnownIssuesFile(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    issue: list[KnownIssue] = []


def known_issue_files(files: Sequence[Path]) -> tuple[Path, ...]:
    """The shipped list, and ``files``, or without any the list of the current folder if there is one."""
    return SHIPPED, *(files or ([USUAL] if USUAL.exists() else []))


def read_known_issues(paths: Iterable[Path]) -> tuple[KnownIssue, ...]:
    """The issues of all files. Raises ValueError with file and place where one is not valid."""
    return tuple(issue for path in paths for issue in _read(path).issue)


def known_as(finding: Finding, issues: Sequence[KnownIssue], today: datetime.date) -> KnownIssue | None:
    """The first matching issue that has not expired."""
    return next((issue for issue in issues if not issue.has_expired(today) and issue.fits(finding)), None)


def append(path: Path, issue: KnownIssue) -> None:
    """Append ``issue`` to the file at ``path``, which may be missing. Raises ValueError where that is not valid."""
    if path.exists():
        _read(path)
    fields = issue.model_dump(exclude_defaults=True)
    lines = ["", "[[issue]]", *(f"{name} = {toml_value(value)}" for name, value in fields.items())]
    text = "\n".join(lines) + "\n"
    text.encode()  # raises ValueError before there is a file
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def _read(path: Path) -> _KnownIssuesFile:
    try:
        return _KnownIssuesFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        raise ValueError(f"{path}: {place}: {first['msg']}") from None
