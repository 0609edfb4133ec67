"""Requests to write seeds: endpoint, price, prompts, budget and settings."""

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
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.shipped import folder
from eqfuzz.program.suggestions import did_you_mean

RESPONSE_LOG = "llm-journal.jsonl"
ALL = "all"


class InvalidRequest(ValueError):
    """A request that cannot be made; ``str()`` is one line.

    ``entry`` names the faulty part: ``model``, ``prompts``, ``base_url``, ``key_env``, ``key_file``, ``price`` or
    ``targets``.
    """

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(message)
        self.entry = entry


@dataclasses.dataclass(frozen=True)
class GenerationRequest:
    """A request to write seeds.

    Attributes:
        endpoint: The model and its server.
        price: What tokens cost.
        prompts: They take turns.
        count: Number of samples.
        out: Folder of the seeds and the response log.
        seed: Decides every random choice.
        budget: Dollars of all runs with the same ``out``; None: unlimited.
        settings: Parameters of each request to the model, such as its temperature.
        concurrency: Requests in flight at once.
        retry_policy: Timeout of a request, and how often it is sent again.
        jobs: Programs that are validated at once.
        parts: Parts of the compiler that prompts which show one choose from.
        all_parts: Whether each of ``parts`` is used.
        corpus: Seed files and folders for prompts that show a seed; empty: the shipped seeds.
        program_seconds: Limit on loading a program and on each run of it in eager.
        unsafe: Whether programs run without a sandbox where none is available.
    """

    endpoint: Endpoint
    price: Price
    prompts: tuple[Prompt, ...]
    count: int
    out: Path
    seed: int = 0
    budget: Decimal | None = None
    settings: RequestSettings = dataclasses.field(default_factory=RequestSettings)
    concurrency: int = 8
    retry_policy: RetryPolicy = dataclasses.field(default_factory=RetryPolicy)
    jobs: int = 1
    parts: tuple[CompilerPart, ...] = ()
    all_parts: bool = False
    corpus: tuple[Path, ...] = ()
    program_seconds: float = 10.0
    unsafe: bool = False


def samples_of(request: GenerationRequest) -> Samples:
    """The samples of ``request``. Raises UsageError."""
    texts: list[str] = []
    if any(prompt.needs in ("seed", "masked") for prompt in request.prompts):
        paths = seed_files(request.corpus or (folder("seeds"),))
        texts = [_text_of(path) for path in paths]
    return Samples(
        request.prompts, request.count, request.seed, corpus=texts, parts=request.parts, all_parts=request.all_parts
    )


def endpoint_of(model: str, base_url: str, key_env: str | None, key_file: Path | None, *, silent: bool) -> Endpoint:
    """The endpoint; an empty ``base_url`` is OpenAI's. ``silent``: no requests are sent, so no key is needed.

    The key is removed from the environment. Raises InvalidRequest.
    """
    if not model:
        raise InvalidRequest("model", "name one; no requests are sent without it")
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
    """The price of tokens, see ``price_of``. Raises InvalidRequest."""
    try:
        return price_of(endpoint, own)
    except NoPrice as error:
        raise InvalidRequest("price", str(error)) from None


def prompts_of(names: Sequence[str]) -> tuple[Prompt, ...]:
    """Shipped prompts by name (``all``: every one), and those of the user by file. Raises InvalidRequest."""
    shipped = shipped_prompts()
    if ALL in names:
        return tuple(shipped.values())
    prompts: list[Prompt] = []
    for name in dict.fromkeys(names):
        if name in shipped:
            prompts.append(shipped[name])
            continue
        if "/" not in name and "." not in name:
            available = [*shipped, ALL]
            raise InvalidRequest(
                "prompts", f"no prompt {name!r}{did_you_mean(name, available)}; known: {', '.join(available)}"
            )
        try:
            prompts.append(prompt_of(Path(name)))
        except BadPrompt as error:
            raise InvalidRequest("prompts", str(error)) from None
    if not prompts:
        raise InvalidRequest("prompts", "name one; `eqfuzz generate prompts` lists them")
    return tuple(prompts)


def parts_of(prompts: Sequence[Prompt], globs: Sequence[str]) -> tuple[tuple[CompilerPart, ...], bool]:
    """The parts of the compiler to choose from, and whether the user named them. Raises InvalidRequest."""
    if not any(prompt.needs == "part" for prompt in prompts):
        if globs:
            raise InvalidRequest("targets", "it needs a prompt that shows a part of the compiler, such as white-box")
        return (), False
    every = parts()
    if not globs:
        return tuple(every.values()), False
    chosen: dict[str, CompilerPart] = {}
    for glob in globs:
        fitting = {name: part for name, part in every.items() if fnmatch.fnmatchcase(name, glob) or part.label == glob}
        if not fitting:
            raise InvalidRequest(
                "targets", f"no part of this torch's compiler matches {glob!r}{did_you_mean(glob, list(every))}"
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
