"""The samples of a request, in order: the prompt of each seed, and the material that it shows."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

from eqfuzz.generate.llm.masking import masked
from eqfuzz.generate.llm.model.question import Message
from eqfuzz.generate.llm.prompt import Prompt
from eqfuzz.generate.llm.white_box import CompilerPart

SHOWN_EXAMPLES = 2
"""Maximal programs that reached a part, shown in requests for another."""

ROUNDS_OF_A_PART = 3
"""The number of samples for each part of the compiler, where the user names none."""

MOST_SHOWN = 6000
"""Maximal characters of a seed that is shown."""


@dataclasses.dataclass(frozen=True)
class SampleRequest:
    """The request for the ``number``-th seed.

    ``after`` is the number of the previous sample for the same part, whose result is shown; None where there is none.
    """

    number: int
    prompt: Prompt
    part: CompilerPart | None = None
    after: int | None = None


class Samples:
    """``count`` samples. Prompts alternate, and so do parts of the compiler, so that samples of one part are far apart.

    ``corpus`` are the texts of seeds for prompts that show one. The same arguments give the same samples.
    """

    def __init__(
        self,
        prompts: Sequence[Prompt],
        count: int,
        seed: int,
        *,
        corpus: Sequence[str] = (),
        parts: Sequence[CompilerPart] = (),
        all_parts: bool = False,
    ) -> None:
        self._prompts = prompts
        self._parts = list(parts)
        self._seed = seed
        self._corpus = sorted(corpus)
        wanted = [number for number in range(count) if prompts[number % len(prompts)].needs == "part"]
        chosen = list(parts)
        if not all_parts and chosen and wanted:
            rng = random.Random(f"{seed} parts")
            chosen = rng.sample(chosen, min(len(chosen), -(-len(wanted) // ROUNDS_OF_A_PART)))
        part_of = {number: chosen[place % len(chosen)] for place, number in enumerate(wanted)} if chosen else {}
        last: dict[tuple[str, str], int] = {}
        self.all: list[SampleRequest] = []
        for number in range(count):
            prompt, part = prompts[number % len(prompts)], part_of.get(number)
            key = (prompt.name, part.name) if part is not None else ("", "")
            self.all.append(SampleRequest(number, prompt, part, last.get(key) if part is not None else None))
            if part is not None:
                last[key] = number

    def one(self, number: int, sample: int) -> SampleRequest:
        """A sample for the ``number``-th seed of an unlimited sequence, with a randomly drawn part.

        ``sample`` is the number of the sample: there may be several for one seed, each with its own answer.
        """
        prompt = self._prompts[number % len(self._prompts)]
        rng = random.Random(f"{self._seed} part {number}")
        part = rng.choice(self._parts) if prompt.needs == "part" and self._parts else None
        return SampleRequest(sample, prompt, part)

    def messages(self, sample: SampleRequest, examples: Sequence[str]) -> tuple[Message, ...]:
        """The messages to the model for ``sample``; ``examples`` are programs that reach its part. Raises BadPrompt."""
        rng = random.Random(f"{self._seed} {sample.prompt.name} {sample.number}")
        materials: dict[str, Any] = {"examples": list(examples)[-SHOWN_EXAMPLES:]}
        match sample.prompt.needs:
            case "seed":
                materials["seed"] = self._seedling(rng)
            case "masked":
                materials["masked"] = masked(self._seedling(rng), rng)
            case "part" if sample.part is not None:
                materials["part"] = sample.part.for_prompt()
            case _:
                pass
        return sample.prompt.messages(rng, materials)

    def _seedling(self, rng: random.Random) -> str:
        short = [text for text in self._corpus if len(text) <= MOST_SHOWN]
        return rng.choice(short or self._corpus).strip()
