"""Prompts: data files with a jinja2 template of a request, and themes that are drawn.

A user's prompt is such a TOML file, or any other text file, which is the template itself. The rules for seeds are
appended where it does not contain ``{{ contract }}``.
"""

from __future__ import annotations

import dataclasses
import random
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from eqfuzz.errors import one_line
from eqfuzz.generate.llm.model.question import Message

_FOLDER = Path(__file__).parent / "prompts"

SYSTEM = (
    "You write small PyTorch programs that test its compiler. "
    "Answer with one complete Python program in one code block, and nothing else."
)

Need = Literal["", "seed", "masked", "part"]
NEEDS: tuple[Need, ...] = ("", "seed", "masked", "part")
"""The material of a prompt: none; a seed; a seed with masked statements; the source of a part of the compiler."""

_KNOWN = {"about", "system", "request", "themes", "contract", "needs"}


class BadPrompt(ValueError):
    """A prompt file cannot be used; ``str()`` is one line with the file and the mistake."""


@dataclasses.dataclass(frozen=True)
class Prompt:
    """A prompt.

    Attributes:
        name: As in ``--prompt``.
        about: A sentence for the list of prompts.
        request: Template of the message to the model; its variables are ``theme``, ``contract``, and that of ``needs``.
        system: The system message.
        themes: One of them is drawn for each sample; empty: there is none.
        contract: Whether the template gets the rules that a seed must keep.
        needs: What else the template shows: a seed, a part of the compiler; empty for nothing.
    """

    name: str
    about: str
    request: str
    system: str = SYSTEM
    themes: tuple[str, ...] = ()
    contract: bool = True
    needs: Need = ""

    def messages(self, rng: random.Random, materials: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages to the model. ``materials``: the variables for ``needs``. Raises BadPrompt."""
        import jinja2
        from jinja2.sandbox import SandboxedEnvironment

        environment = SandboxedEnvironment(
            undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
        )
        theme = rng.choice(self.themes) if self.themes else ""
        rules = contract() if self.contract else ""
        try:
            text = environment.from_string(self.request).render({"theme": theme, "contract": rules, **materials})
        except jinja2.TemplateError as error:
            raise BadPrompt(f"{self.name}: {one_line(str(error))}") from None
        return ({"role": "system", "content": self.system.strip()}, {"role": "user", "content": text.strip()})


@cache
def contract() -> str:
    """The rules for seeds, as text for a model."""
    return (_FOLDER / "contract.txt").read_text(encoding="utf-8").strip()


def shipped_prompts() -> dict[str, Prompt]:
    """The shipped prompts by name."""
    return {path.stem: prompt_of(path, path.stem) for path in sorted(_FOLDER.glob("*.toml"))}


def prompt_of(path: Path, name: str | None = None) -> Prompt:
    """The prompt in a file. Raises BadPrompt."""
    name = name or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadPrompt(f"{path}: not UTF-8 text: {error.reason}") from None
    except OSError as error:
        raise BadPrompt(f"{path}: cannot be read: {error.strerror}") from None
    prompt = _from_table(name, text) if path.suffix == ".toml" else Prompt(name, f"the file {path}", text)
    if not prompt.request.strip():
        raise BadPrompt(f"{name}: there is no request in it")
    if prompt.contract and "contract" not in prompt.request:
        prompt = dataclasses.replace(prompt, request=f"{prompt.request.rstrip()}\n\n{{{{ contract }}}}\n")
    prompt.messages(random.Random(0), _SPECIMENS)
    return prompt


def _from_table(name: str, text: str) -> Prompt:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPrompt(f"{name}: not valid TOML: {error}") from None
    for key in table:
        if key not in _KNOWN:
            raise BadPrompt(f"{name}: no entry {key!r}; known: {', '.join(sorted(_KNOWN))}")
    for key in ("about", "system", "request", "needs"):
        if not isinstance(table.get(key, ""), str):
            raise BadPrompt(f"{name}: {key} is a text")
    themes = table.get("themes", [])
    if not isinstance(themes, list) or not all(isinstance(theme, str) for theme in themes):
        raise BadPrompt(f"{name}: themes is a list of texts")
    if not isinstance(table.get("contract", True), bool):
        raise BadPrompt(f"{name}: contract is true or false")
    if table.get("needs", "") not in NEEDS:
        raise BadPrompt(f"{name}: needs is one of {', '.join(map(repr, NEEDS))}")
    about = table.get("about", f"the file {name}")
    return Prompt(
        **{**table, "name": name, "about": about, "request": table.get("request", ""), "themes": tuple(themes)}
    )


_SPECIMENS = {
    "seed": "pass",
    "masked": "pass",
    "examples": ["pass"],
    "part": dict.fromkeys(("kind", "label", "torch", "place", "source", "goal", "hint"), ""),
}
"""Materials to render a prompt with when it is read, so that mistakes are reported before any request."""
