"""Defects of torch that tests meet on purpose, on the releases that the list of known issues gives them."""

from __future__ import annotations

import pytest

from eqfuzz.program.release import this_release
from eqfuzz.triage.findings.known_issues import SHIPPED, read_known_issues

AMIN = "https://github.com/pytorch/pytorch/issues/191499"
"""The minimum of 16 or more positive int8 numbers is 0 where it is vectorised."""


def only_with(url: str) -> pytest.MarkDecorator:
    """Skip a test where the installed torch does not have the known issue at ``url``."""
    (issue,) = (issue for issue in read_known_issues([SHIPPED]) if issue.url == url)
    reason = f"torch {this_release()} does not have {url}"
    return pytest.mark.skipif(not issue.is_in(this_release()), reason=reason)
