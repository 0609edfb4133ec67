"""Seeds that a language model wrote, as files that say where they came from; each program once."""

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
    """The folder of accepted seeds; ``seed`` is what decided their prompts."""

    def __init__(self, path: Path, endpoint: Endpoint, seed: int) -> None:
        self._path = path
        self._endpoint = endpoint
        self._seed = seed
        self._here: set[str] = set()
        self._versions = versions()

    def decide(self, sample: SampleRequest, made: SampleResult) -> SampleEnded:
        """Keep what was made for ``sample`` where it is a seed that is not there yet; what came of it."""
        checked, file = made.checked, None
        if checked.reason is None:
            file = self.keep(sample, made)
            if isinstance(file, str):
                checked, file = ValidationResult(Reason.DUPLICATE, file), None
        part = sample.part.name if sample.part is not None else ""
        return SampleEnded(
            number=sample.number,
            prompt=sample.prompt.name,
            part=part,
            reason=str(checked.reason or ""),
            message=self._endpoint.hide(checked.message),
            file=str(file or ""),
            sites=checked.sites,
            reached=part in checked.reached if part and file is not None else None,
            rounds=[_told(one, self._endpoint) for one in made.rounds],
        )

    def keep(self, sample: SampleRequest, made: SampleResult) -> Path | str:
        """The file of the seed, or which one it duplicates, in words."""
        digest = hashlib.sha256(normalised(made.code).encode()).hexdigest()[:12]
        if digest in self._here:
            return "the same program was accepted before"
        there = next(iter(sorted(self._path.glob(f"llm-*-{digest}.py"))), None)
        header = self.header(sample, made)
        if there is not None and not _is_the_same(there, header):
            return f"the same program is there as {there.name}"
        slug = re.sub(r"[^A-Za-z0-9]+", "-", Path(sample.prompt.name).stem).strip("-").lower() or "prompt"
        file = self._path / f"llm-{slug}-{digest}.py"
        self._path.mkdir(parents=True, exist_ok=True)
        write_atomically(file, header.header() + made.code)
        self._here.add(digest)
        return file

    def header(self, sample: SampleRequest, made: SampleResult) -> Provenance:
        """Where the seed came from."""
        details: dict[str, str | int | float | bool] = {
            "model": self._endpoint.model,
            "endpoint": self._endpoint.host,
            "prompt": sample.prompt.name,
            "sample": sample.number,
            "seed": self._seed,
            "queries": len(made.answers),
            "input_tokens": sum(answer.input_tokens for answer in made.answers),
            "output_tokens": sum(answer.output_tokens for answer in made.answers),
            "dollars": float(made.dollars),
        }
        if sample.part is not None:
            details |= {"part": sample.part.name, "reached": sample.part.name in made.checked.reached}
        return Provenance(LLM, {**details, **{name: str(version) for name, version in self._versions.items()}})


def _told(one: Round, endpoint: Endpoint) -> AnswerJudged:
    answer, reason = one.answer, str(one.checked.reason or "")
    message = endpoint.hide(one.checked.message)
    if answer is None:
        return AnswerJudged(reason, message, 0, 0, 0.0, False)
    return AnswerJudged(reason, message, answer.input_tokens, answer.output_tokens, float(answer.dollars), answer.kept)


_NAMES_A_SEED = ("model", "prompt", "sample", "seed", "part")


def _is_the_same(file: Path, header: Provenance) -> bool:
    """Whether the file was written for the same sample, by an earlier run."""
    try:
        known = provenance_of(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidProvenance):
        return False
    return known is not None and all(known.details.get(key) == header.details.get(key) for key in _NAMES_A_SEED)
