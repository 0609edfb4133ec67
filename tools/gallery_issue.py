"""A defect of the gallery as an issue for PyTorch, in the form of its bug template."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.program.release import Release
from eqfuzz.report.evidence import evidence_text
from eqfuzz.report.issue import without_docstring
from eqfuzz.triage.confirm.replay import FIXED, REPLAY_SECONDS, STILL_FAILING
from eqfuzz.triage.upstream.evidence import EvidenceCollector, EvidencePlan, UpstreamEvidence
from eqfuzz.triage.upstream.mitigations import FAILS, PASSES
from tools.release_columns import Column

_NOT_FOR_UPSTREAM = re.compile(r"\n(?:\*\*Searches\*\*|Searched upstream|\[Script\]).*?(?=\n\n|\Z)", re.DOTALL)
_LINK_TO_A_PAGE = re.compile(r"\[([^]]*)\]\((?!https?:)[^)]*\)")
_ENVIRONMENT = re.compile(r"^(?:PyTorch version|Is debug build|OS|GCC version|Python version|Libc version): .*$", re.M)
_LOG_LINE = re.compile(r"^[CEWI]\d{4} [\d:.]+ \d+ \S+:\d+\].*\n", re.MULTILINE)
_CUT_LOG_LINE = re.compile(r"\A.*\n(?=[CEWI]\d{4} )")
_FOLDER = re.compile(r"/(?:[\w.+-]+/)*site-packages/|/tmp/(?:[\w.+-]+/)*")


def defect_issue(
    title: str,
    page: Path,
    output: str,
    upstream: str,
    columns: Sequence[Column],
    versions: str,
    evidence: UpstreamEvidence | None = None,
    labels: Sequence[str] = (),
) -> str:
    """The text of an issue: the explanation of ``page``, its script, and the script's ``output``.

    ``columns`` are the outcomes by release, ``versions`` the output of collect_env on the release that gave ``output``.
    With ``evidence``, it has the script as a function, and what was tried.
    """
    explanation = page.read_text(encoding="utf-8").split("---\n", 2)[2].split(f"# {title}\n", 1)[1]
    explanation = _LINK_TO_A_PAGE.sub(r"\1", _NOT_FOR_UPSTREAM.sub("", f"\n{explanation}")).strip()
    script = without_docstring(page.with_suffix(".py").read_text(encoding="utf-8"))
    if evidence is not None:
        script, output = evidence.script.text.strip("\n"), evidence.outcome.output
    releases = [f"{column.release}: {column.outcomes[page.stem]}" for column in columns if page.stem in column.outcomes]
    tried = f"Exit status by release: {'; '.join(releases)}."
    lines = [] if upstream.startswith("(") else [f"<!-- Upstream: {upstream} -->"]
    lines += [f"<!-- {title.replace('--', '- -')} -->", "### 🐛 Describe the bug", "", explanation, ""]
    lines += [
        "```python",
        script,
        "```",
        "",
        "It prints",
        "",
        "```",
        _printed(output, page.parent.resolve()),
        "```",
        "",
    ]
    lines += [tried if evidence is None else evidence_text(evidence, labels)]
    lines += ["", "### Versions", "", "```"]
    return "\n".join([*lines, *_ENVIRONMENT.findall(versions), "```", ""])


def gallery_evidence(
    title: str, page: Path, columns: Sequence[Column], release: Release, jobs: int
) -> UpstreamEvidence:
    """The evidence for a defect with this interpreter, with the outcomes by release that were measured before."""
    script = without_docstring(page.with_suffix(".py").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="eqfuzz-gallery-") as place:
        evidence = EvidenceCollector(Path(place), EvidencePlan(title, jobs=jobs, seconds=REPLAY_SECONDS)).collect(
            script, release
        )
    outcomes = [(column.release, column.outcomes[page.stem]) for column in columns if page.stem in column.outcomes]
    words = {FIXED.lower(): PASSES, STILL_FAILING.lower(): FAILS}
    return dataclasses.replace(evidence, releases=tuple((one, words.get(text, text)) for one, text in outcomes))


def _printed(output: str, folder: Path) -> str:
    """What the script in ``folder`` prints: its last lines, without torch's log and with no folder of this machine."""
    text = _LOG_LINE.sub("", _CUT_LOG_LINE.sub("", output))
    lines = _FOLDER.sub("", text.replace(f"{folder}/", "")).strip("\n").splitlines()
    return "\n".join(lines if len(lines) <= 40 else ["…", *lines[-40:]])
