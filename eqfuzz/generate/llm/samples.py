"""What is asked for, in order: one prompt, and what it shows, for each seed wanted."""

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
"""Programs that reached a part, shown to the model that is asked for another."""

ROUNDS_OF_A_PART = 3
"""How often a part of the compiler is asked for, where the user names none."""

MOST_SHOWN = 6000
"""Characters of a seed that are shown."""


@dataclasses.dataclass(frozen=True)
class SampleRequest:
    """The ``number``-th seed wanted. ``after`` is the sample before it that asks for the same part, whose outcome
    decides what is shown; None where there is none."""

    number: int
    prompt: Prompt
    part: CompilerPart | None = None
    after: int | None = None


class Samples:
    """``count`` samples: prompts in turn; parts of the compiler in turn, so that those of one part lie far apart.

    ``corpus`` are texts of seeds for the prompts that show one. The same arguments give the same samples.
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

    def one(self, number: int, asked: int) -> SampleRequest:
        """What is asked for the ``number``-th seed of a row without end, whose parts are drawn one by one.

        ``asked`` numbers the samples: several may be asked for one seed, and each gets an answer of its own.
        """
        prompt = self._prompts[number % len(self._prompts)]
        rng = random.Random(f"{self._seed} part {number}")
        part = rng.choice(self._parts) if prompt.needs == "part" and self._parts else None
        return SampleRequest(asked, prompt, part)

    def messages(self, sample: SampleRequest, examples: Sequence[str]) -> tuple[Message, ...]:
        """What the model is told for ``sample``; ``examples`` reached its part before. Raises BadPrompt."""
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
