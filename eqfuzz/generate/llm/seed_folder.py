"""The folder of seeds written by a language model: files with their provenance, without duplicates."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from eqfuzz.atomic_file import write_atomically
from eqfuzz.events.llm import AnswerJudged, SampleEnded
from eqfuzz.generate.llm.extraction import normalised
from eqfuzz.generate.llm.model.endpoint import Endpoint
from eqfuzz.generate.llm.repair import Round, SampleResult
from eqfuzz.generate.llm.samples import SampleRequest
from eqfuzz.generate.llm.validation import Reason, ValidationResult
from eqfuzz.program.provenance import LLM, InvalidProvenance, Provenance, provenance_of
from eqfuzz.triage.findings.versions import versions


class SeedFolder:
    """The folder of accepted seeds; ``seed`` is the random seed of their prompts."""

    def __init__(self, path: Path, endpoint: Endpoint, seed: int) -> None:
        self._path = path
        self._endpoint = endpoint
        self._seed = seed
        self._here: set[str] = set()
        self._versions = versions()

    def decide(self, sample: SampleRequest, result: SampleResult) -> SampleEnded:
        """Save the program of ``result`` if it is a new seed; returns the event with the outcome."""
        validation, file = result.validation, None
        if validation.reason is None:
            file = self.save(sample, result)
            if isinstance(file, str):
                validation, file = ValidationResult(Reason.DUPLICATE, file), None
        part = sample.part.name if sample.part is not None else ""
        return SampleEnded(
            number=sample.number,
            prompt=sample.prompt.name,
            part=part,
            reason=str(validation.reason or ""),
            message=self._endpoint.hide(validation.message),
            file=str(file or ""),
            sites=validation.sites,
            reached=part in validation.reached if part and file is not None else None,
            rounds=[_answer_event(one, self._endpoint) for one in result.rounds],
        )

    def save(self, sample: SampleRequest, result: SampleResult) -> Path | str:
        """The file of the seed, or a message that says which one it duplicates."""
        digest = hashlib.sha256(normalised(result.code).encode()).hexdigest()[:12]
        if digest in self._here:
            return "the same program was accepted before"
        existing = next(iter(sorted(self._path.glob(f"llm-*-{digest}.py"))), None)
        header = self.header(sample, result)
        if existing is not None and not _is_same_sample(existing, header):
            return f"the same program exists as {existing.name}"
        slug = re.sub(r"[^A-Za-z0-9]+", "-", Path(sample.prompt.name).stem).strip("-").lower() or "prompt"
        file = self._path / f"llm-{slug}-{digest}.py"
        self._path.mkdir(parents=True, exist_ok=True)
        write_atomically(file, header.header() + result.code)
        self._here.add(digest)
        return file

    def header(self, sample: SampleRequest, result: SampleResult) -> Provenance:
        """The provenance of the seed."""
        details: dict[str, str | int | float | bool] = {
            "model": self._endpoint.model,
            "endpoint": self._endpoint.host,
            "prompt": sample.prompt.name,
            "sample": sample.number,
            "seed": self._seed,
            "queries": len(result.answers),
            "input_tokens": sum(answer.input_tokens for answer in result.answers),
            "output_tokens": sum(answer.output_tokens for answer in result.answers),
            "dollars": float(result.dollars),
        }
        if sample.part is not None:
            details |= {"part": sample.part.name, "reached": sample.part.name in result.validation.reached}
        return Provenance(LLM, {**details, **{name: str(version) for name, version in self._versions.items()}})


def _answer_event(one: Round, endpoint: Endpoint) -> AnswerJudged:
    answer, reason = one.answer, str(one.validation.reason or "")
    message = endpoint.hide(one.validation.message)
    if answer is None:
        return AnswerJudged(reason=reason, message=message, input_tokens=0, output_tokens=0, dollars=0.0, kept=False)
    return AnswerJudged(
        reason=reason,
        message=message,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        dollars=float(answer.dollars),
        kept=answer.kept,
    )


_NAMES_A_SEED = ("model", "prompt", "sample", "seed", "part")


def _is_same_sample(file: Path, header: Provenance) -> bool:
    """Whether an earlier run wrote the file for the same sample."""
    try:
        provenance = provenance_of(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidProvenance):
        return False
    return provenance is not None and all(
        provenance.details.get(key) == header.details.get(key) for key in _NAMES_A_SEED
    )
