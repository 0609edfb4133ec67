"""What is wanted of a language model: which one, what it is asked for, and what it may cost."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from eqfuzz.errors import UsageError
from eqfuzz.generate.llm.model.client import RetryPolicy
from eqfuzz.generate.llm.model.endpoint import OPENAI, BadEndpoint, Endpoint, take_key
from eqfuzz.generate.llm.model.price import NoPrice, Price, price_of
from eqfuzz.generate.llm.prompt import BadPrompt, Prompt, prompt_of, shipped_prompts
from eqfuzz.generate.llm.repair import RequestSettings
from eqfuzz.generate.llm.samples import Samples
from eqfuzz.generate.llm.white_box import CompilerPart, parts
from eqfuzz.mutate.run import seed_files
from eqfuzz.program.shipped import folder
from eqfuzz.program.suggestions import did_you_mean

JOURNAL = "llm-journal.jsonl"
ALL = "all"


class InvalidRequest(ValueError):
    """What cannot be asked for: ``entry`` names it (``model``, ``prompts``, ``base_url``, ``key_env``, ``key_file``,
    ``price``, ``targets``), ``str()`` is one line."""

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(message)
        self.entry = entry


@dataclasses.dataclass(frozen=True)
class GenerationRequest:
    """What is wanted of whom. ``budget`` in dollars is for all runs with the same ``out``; None: no end.

    ``parts`` of the compiler are what prompts that show one choose from; with ``all_parts`` each has its turn.
    ``corpus`` are seed files and folders for prompts that show a seed (none: the shipped seeds). ``program_seconds``
    bounds loading a program and each run of it in eager. ``unsafe``: where there can be no sandbox they run without.
    """

    endpoint: Endpoint
    price: Price
    prompts: tuple[Prompt, ...]
    count: int
    out: Path
    seed: int = 0
    budget: Decimal | None = None
    asking: RequestSettings = dataclasses.field(default_factory=RequestSettings)
    concurrency: int = 8
    patience: RetryPolicy = dataclasses.field(default_factory=RetryPolicy)
    jobs: int = 1
    parts: tuple[CompilerPart, ...] = ()
    all_parts: bool = False
    corpus: tuple[Path, ...] = ()
    program_seconds: float = 10.0
    unsafe: bool = False


def samples_of(order: GenerationRequest) -> Samples:
    """What is asked for. Raises UsageError."""
    texts: list[str] = []
    if any(prompt.needs in ("seed", "masked") for prompt in order.prompts):
        paths = seed_files(order.corpus or (folder("seeds"),))
        texts = [_text_of(path) for path in paths]
    return Samples(order.prompts, order.count, order.seed, corpus=texts, parts=order.parts, all_parts=order.all_parts)


def endpoint_of(model: str, base_url: str, key_env: str | None, key_file: Path | None, *, silent: bool) -> Endpoint:
    """Who is asked; an empty ``base_url`` is OpenAI's. ``silent``: nothing is sent, so no key is needed.

    The key is taken out of the environment. Raises InvalidRequest.
    """
    if not model:
        raise InvalidRequest("model", "name one; nothing is sent anywhere without it")
    address = base_url or OPENAI
    try:
        Endpoint(model)
    except BadEndpoint as error:
        raise InvalidRequest("model", str(error)) from None
    try:
        Endpoint(model, address)
    except BadEndpoint as error:
        raise InvalidRequest("base_url", str(error)) from None
    try:
        return Endpoint(model, address, "" if silent else take_key(address, key_env, key_file))
    except BadEndpoint as error:
        raise InvalidRequest("key_file" if key_file is not None else "key_env", str(error)) from None


def amount_of(endpoint: Endpoint, own: str) -> Price:
    """What tokens cost, see ``price_of``. Raises InvalidRequest."""
    try:
        return price_of(endpoint, own)
    except NoPrice as error:
        raise InvalidRequest("price", str(error)) from None


def prompts_of(names: Sequence[str]) -> tuple[Prompt, ...]:
    """Shipped prompts by name (``all`` of them), and the user's own by file. Raises InvalidRequest."""
    shipped = shipped_prompts()
    if ALL in names:
        return tuple(shipped.values())
    found: list[Prompt] = []
    for name in dict.fromkeys(names):
        if name in shipped:
            found.append(shipped[name])
            continue
        if "/" not in name and "." not in name:
            known = [*shipped, ALL]
            raise InvalidRequest("prompts", f"no prompt {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}")
        try:
            found.append(prompt_of(Path(name)))
        except BadPrompt as error:
            raise InvalidRequest("prompts", str(error)) from None
    if not found:
        raise InvalidRequest("prompts", "name one; `eqfuzz generate prompts` lists them")
    return tuple(found)


def parts_of(prompts: Sequence[Prompt], globs: Sequence[str]) -> tuple[tuple[CompilerPart, ...], bool]:
    """The parts of the compiler that may be asked for, and whether the user named them. Raises InvalidRequest."""
    if not any(prompt.needs == "part" for prompt in prompts):
        if globs:
            raise InvalidRequest(
                "targets", "it goes with a prompt that shows a part of the compiler, such as white-box"
            )
        return (), False
    known = parts()
    if not globs:
        return tuple(known.values()), False
    chosen: dict[str, CompilerPart] = {}
    for glob in globs:
        fitting = {name: part for name, part in known.items() if fnmatch.fnmatchcase(name, glob) or part.label == glob}
        if not fitting:
            raise InvalidRequest(
                "targets", f"no part of this torch's compiler fits {glob!r}{did_you_mean(glob, list(known))}"
            )
        chosen |= fitting
    return tuple(chosen.values()), True


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
