"""Searches for duplicates of a finding: the words that an issue about the same defect would have."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.torch_internals.bisector import application
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.fingerprint import guarded_by
from eqfuzz.triage.findings.program_features import features_of

OPERATORS = 2
"""Names of operators in one search: an issue has few."""

MESSAGE_WORDS = 10

_SYMPTOMS = {
    VerdictKind.WRONG_RESULT: "wrong result",
    VerdictKind.WRONG_GRADIENT: "wrong gradient",
    VerdictKind.WRONG_SIDE_EFFECT: "mutation",
    VerdictKind.PROCESS_CRASH: "segfault",
    VerdictKind.HANG: "hangs",
    VerdictKind.OUT_OF_MEMORY: "out of memory",
}
_PROPERTIES = ("stride", "dtype", "shape", "requires_grad", "is_leaf", "device")
_RAISED = re.compile(r"((?:[A-Z]\w*(?:Error|Exception|Failed|Unsupported|Interrupt|Exit)\b(?:: )?)+)(.*)", re.DOTALL)
_WRAPPERS = ("BackendCompilerFailed", "InductorError", "InternalTorchDynamoError", "LoweringException")
"""Exceptions that say only where another one was raised."""

_DTYPES = re.compile(r"(u?int|b?float|complex)\d+|bfloat16|bool|dtype")
_NO_OPERATORS = ("attribute", "data", "to")

_VARIABLE = re.compile(r"(['\"`]).*?\1|<[^>]*>|\[[^\]]*\]|\S*\d\S*|\S*[=/]\S*")
"""What differs between two programs with one defect: quoted names, reprs, shapes, numbers, assignments."""


def searches(finding: Finding) -> list[tuple[str, str]]:
    """Words to search for, the most specific first, each with the address of the search among PyTorch's issues."""
    texts = _of_exception(finding) if finding.verdict.raises else _of_difference(finding)
    return [(words, _address(words)) for words in dict.fromkeys(" ".join(text.split()) for text in texts)]


def importance(finding: Finding) -> dict[str, float]:
    """Texts whose names an issue about the same defect would have, and how much each of them says."""
    part = application(finding.blame.detail) if finding.blame is not None else ""
    frames = finding.verdict.evidence.frames if finding.verdict.evidence is not None else ()
    weights = {part: 3.0, guarded_by(finding): 2.0, _operators(finding): 2.0}
    weights |= {" ".join(frame.split(".")[-1] for frame in frames): 3.0}
    if finding.verdict.raises:
        raised, message = _raised(finding.verdict.message)
        weights |= {raised: 2.0, message: 1.0}
    else:
        weights |= {_SYMPTOMS.get(finding.verdict.kind) or _property(finding): 0.5}
    weights |= {finding.place: 1.0}
    return {text: weight for text, weight in weights.items() if text}


def _of_exception(finding: Finding) -> list[str]:
    """Exception and message; exception and the innermost function of torch; exception and operators."""
    raised, message = _raised(finding.verdict.message)
    frames = finding.verdict.evidence.frames if finding.verdict.evidence is not None else ()
    texts = [f"{raised} {message}"]
    if frames:
        function = next(part for part in reversed(frames[0].split(".")) if not part.startswith(("__", "<")))
        texts.append(f"{raised} {function}")
    return [*texts, f"torch.compile {raised} {_operators(finding)}"]


def _of_difference(finding: Finding) -> list[str]:
    """The faulty pass, or what no guard is on, and the operators, each with the symptom."""
    symptom = _SYMPTOMS.get(finding.verdict.kind) or _property(finding)
    part = application(finding.blame.detail) if finding.blame is not None else ""
    guarded = guarded_by(finding)
    texts = [f"inductor {part} {symptom}"] if part else []
    texts += [f"dynamo guard {guarded}"] if guarded else []
    return [*texts, f"torch.compile {_operators(finding)} {symptom}"]


def _operators(finding: Finding) -> str:
    """The first operators of the program; its other features where it calls none."""
    features = features_of(finding.transformed)
    names = [name for name in features if name not in _NO_OPERATORS and not _DTYPES.fullmatch(name)]
    called = [name for name in names if not name[:1].isupper() or name in _module_names(finding)]
    return " ".join((called or [name.lower() for name in names])[:OPERATORS])


def _module_names(finding: Finding) -> set[str]:
    """Capitalised names that the program calls: layers, and not kinds of statements."""
    return set(re.findall(r"\b([A-Z]\w+?)(?:[123]d)?\(", finding.transformed.source))


def _raised(message: str) -> tuple[str, str]:
    """The innermost exception of a verdict's message, and the first words of its text that other programs share."""
    match = _RAISED.search(message.removesuffix("; compiled raises nothing"))
    if match is None:
        return "", " ".join(_VARIABLE.sub(" ", message).split()[:MESSAGE_WORDS])
    names = match[1].rstrip(": ").split(": ")
    own = [name for name in names if name not in _WRAPPERS] or names
    words = re.sub(r"[^\w.\s()]+", " ", _VARIABLE.sub(" ", match[2])).split()
    return own[-1], " ".join(words[:MESSAGE_WORDS])


def _property(finding: Finding) -> str:
    """Which property of a result differs."""
    message = finding.verdict.message
    if "shared(" in message:
        return "aliasing"
    return next((name for name in _PROPERTIES if name in message), "metadata") + " mismatch"


def _address(words: str) -> str:
    return f"https://github.com/pytorch/pytorch/issues?q={quote_plus('is:issue ' + words)}"
