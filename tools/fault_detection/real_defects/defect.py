"""A real defect: a seed in ``real/`` that shows it, with a declaration that is read without running the seed.

The declaration is TOML in comments, delimited as Python's inline script metadata are::

    # /// defect
    # cause = "what is broken, in one line"
    # url = "https://github.com/pytorch/pytorch/issues/198081"
    # torch = ">=2.13"
    # kinds = ["wrong-metadata", "wrong-result"]
    # regex = 'dtype'
    # ///

``kinds`` are verdicts that a finding of it may have; ``regex`` and ``direction`` narrow them as in the list of known
issues. Comments, and not constants: a constant would be a global of the program, which call steps change.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pydantic

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.release import Release, checked_range

FOLDER = Path(__file__).parents[1] / "real"
_BLOCK = re.compile(r"^# /// defect$\n(?P<lines>(?:^#(?: .*)?$\n)+?)^# ///$", re.MULTILINE)
_TRACKER = r"https://github\.com/pytorch/pytorch/(?:issues|pull)/\d+"


class BadDefect(Exception):
    """A seed has no valid declaration of a defect; ``str()`` is one line."""


class Defect(pydantic.BaseModel):
    """A seed that shows a defect of torch.

    Attributes:
        path: The seed's file.
        cause: The root cause, unique among seeds.
        url: Address of its issue.
        torch: Range of releases that have the defect.
        kinds: Kinds of verdict that count as detecting it.
        regex: Restricts them to findings whose searched text it matches; empty: all.
        direction: Restricts them to findings in results or in gradients; empty: both.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    path: Path
    cause: str = pydantic.Field(min_length=1)
    url: str = pydantic.Field(pattern=f"^{_TRACKER}$")
    torch: str = pydantic.Field(min_length=1)
    kinds: tuple[VerdictKind, ...] = pydantic.Field(min_length=1)
    regex: str = ""
    direction: Literal["", "forward", "gradient"] = ""

    @pydantic.field_validator("torch")
    @classmethod
    def _is_a_range(cls, torch: str) -> str:
        return checked_range(torch)

    @pydantic.field_validator("regex")
    @classmethod
    def _is_a_regex(cls, regex: str) -> str:
        try:
            re.compile(regex)
        except re.error as error:
            raise ValueError(str(error)) from None
        return regex

    @property
    def name(self) -> str:
        return self.path.stem

    def is_in(self, release: Release) -> bool:
        return release.fits(self.torch)

    def is_shown_by(self, finding: Mapping[str, Any]) -> bool:
        """Whether ``finding``, an event ``finding`` of ``--format json``, is of this defect."""
        verdict = finding["verdict"]
        lines = [f"{verdict['kind']}: {verdict['message']}", finding["fingerprint"], *finding["suspects"]]
        return (
            verdict["kind"] in self.kinds
            and self.direction in ("", _direction_of(verdict))
            and re.search(self.regex, "\n".join(" ".join(line.split()) for line in lines)) is not None
        )


def _direction_of(verdict: Mapping[str, Any]) -> str:
    path = (verdict["evidence"] or {}).get("path", "")
    is_gradient = verdict["kind"] == VerdictKind.WRONG_GRADIENT or path.startswith("gradient of ")
    return "gradient" if is_gradient else "forward"


def read_defects(folder: Path = FOLDER) -> list[Defect]:
    """All defects in ``folder``, sorted by name. Raises BadDefect, also where two declare one cause."""
    defects = [read_defect(path) for path in sorted(folder.glob("*.py"))]
    by_cause: dict[str, Defect] = {}
    for defect in defects:
        first = by_cause.setdefault(defect.cause, defect)
        if first is not defect:
            raise BadDefect(f"{defect.path.name}: {first.path.name} declares the same cause")
    return defects


def read_defect(path: Path) -> Defect:
    """Read the declaration of the seed at ``path``. Raises BadDefect."""
    block = _BLOCK.search(path.read_text(encoding="utf-8"))
    if block is None:
        raise BadDefect(f"{path.name}: no declaration between '# /// defect' and '# ///'")
    text = "".join(line[2:] or "\n" for line in block["lines"].splitlines(keepends=True))
    try:
        return Defect.model_validate({**tomllib.loads(text), "path": path})
    except tomllib.TOMLDecodeError as error:
        raise BadDefect(f"{path.name}: its declaration is not valid TOML: {error}") from None
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        raise BadDefect(f"{path.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
