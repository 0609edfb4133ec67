"""Templates: named distributions of programs, with the parameters of the generator."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pydantic

from eqfuzz.errors import error_line
from eqfuzz.generate.dag.values.input_code import LAYOUTS, PROFILES
from eqfuzz.generate.dag.values.spec import EVERY
from eqfuzz.program.parsing import parse
from eqfuzz.program.suggestions import did_you_mean

SHIPPED = Path(__file__).parent / "templates"

MIXED = "mixed"
"""The name of the mixture of all templates."""

Weights = dict[str, pydantic.NonNegativeFloat]

_NAMED_ONLY = frozenset({"dtensor"})


class InvalidTemplate(Exception):
    """A template that cannot be used; the message names the file and the mistake."""


class ProgramTemplate(pydantic.BaseModel):
    """A distribution of programs. Weights are relative, and 0 excludes; probabilities and shares lie between 0 and 1.

    Attributes:
        name: As in ``--template``.
        about: A sentence for the list of templates.
        families: Weights of families of operators.
        others: Weight of each family that ``families`` does not name.
        operators: Weights of operators; where it names any, only those are used.
        required: Families of which each program uses an operator of at least one, where any may be used.
        dtypes: Weights of dtypes of values.
        ranks: Weights of numbers of dimensions.
        profiles: Weights of distributions of the elements of inputs.
        layouts: Weights of memory layouts of inputs.
        modules: Probability of a module with parameters instead of a function.
        backward: Probability that inputs and parameters require gradients.
        inplace: Share of in-place calls where they are possible.
        out: Share of ``out=`` calls where they are possible.
        dynamic: Probability of sizes that change from one input set to the next.
        empty: Probability that a dimension has size 0.
        exact: Share of outputs with values that no rounding touches.
        reuse: Probability that an existing value is used again.
        leaf: Probability of an input before the depth is reached.
        nested: Probability that outputs are nested in lists, tuples and dicts.
        mutates_inputs: Whether inputs may be written to.
        inputs: Approximate maximum of inputs.
        outputs: Approximate maximum of outputs.
        depth: Approximate maximum of nested operators.
        nodes: Approximate maximum of operators.
        preamble: Lines of code before the program.
        configs: Names of the compile configurations that its programs are for, used where the user names none.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: str = pydantic.Field("", pattern=r"^[\w.-]*$")
    about: str = ""
    families: Weights = {}
    others: float = pydantic.Field(1.0, ge=0, description="weight of families that are not named")
    operators: Weights = {}
    required: tuple[str, ...] = ()
    dtypes: Weights = {
        "float32": 8,
        "float64": 1.5,
        "int64": 1.5,
        "bool": 0.7,
        "float16": 0.5,
        "bfloat16": 0.5,
        "complex64": 0.5,
    }
    ranks: dict[int, pydantic.NonNegativeFloat] = {0: 0.5, 1: 2, 2: 4, 3: 3, 4: 1.5, 5: 0.4}
    profiles: Weights = PROFILES
    layouts: Weights = LAYOUTS
    modules: float = pydantic.Field(0.25, ge=0, le=1)
    backward: float = pydantic.Field(0.35, ge=0, le=1)
    inplace: float = pydantic.Field(0.2, ge=0, le=1)
    out: float = pydantic.Field(0.08, ge=0, le=1)
    dynamic: float = pydantic.Field(0.25, ge=0, le=1)
    empty: float = pydantic.Field(0.01, ge=0, le=1)
    exact: float = pydantic.Field(0.0, ge=0, le=1)
    reuse: float = pydantic.Field(0.35, ge=0, le=1)
    leaf: float = pydantic.Field(0.12, ge=0, le=1)
    nested: float = pydantic.Field(0.2, ge=0, le=1)
    mutates_inputs: bool = True
    inputs: int = pydantic.Field(6, ge=1, le=20)
    outputs: int = pydantic.Field(3, ge=1, le=40)
    depth: int = pydantic.Field(7, ge=1, le=20)
    nodes: int = pydantic.Field(24, ge=1, le=400)
    preamble: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()

    @pydantic.field_validator("dtypes", "profiles", "layouts")
    @classmethod
    def _has_known_names(cls, weights: dict[str, float], info: pydantic.ValidationInfo) -> dict[str, float]:
        names = {"dtypes": EVERY, "profiles": tuple(PROFILES), "layouts": tuple(LAYOUTS)}[info.field_name or ""]
        for name in weights:
            if name not in names:
                raise ValueError(f"no such name: {name!r}; known: {', '.join(names)}")
        if not any(weights.values()):
            raise ValueError("every weight is 0")
        return weights

    @pydantic.field_validator("preamble")
    @classmethod
    def _is_python(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        try:
            parse("\n".join(lines))
        except SyntaxError as error:
            raise ValueError(f"not valid Python: {error.msg}, line {error.lineno}") from None
        return lines

    def allows(self, family: str) -> bool:
        """Whether its operators may be selected by name: some need definitions of the template's preamble."""
        return family in self.families or family not in _NAMED_ONLY

    def weight_of(self, family: str) -> float:
        """The weight of ``family``; 0 for one that needs a preamble and that the template does not name."""
        return self.families.get(family, 0.0 if family in _NAMED_ONLY else self.others)


def read_template(path: Path) -> ProgramTemplate:
    """A template from a TOML file. Raises InvalidTemplate."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidTemplate(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidTemplate(f"{path}: not valid TOML: {error}") from None
    try:
        return ProgramTemplate.model_validate({"name": path.stem, **table})
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidTemplate(
            f"{path}: {where}: {first['msg']}; fields: {', '.join(ProgramTemplate.model_fields)}"
        ) from None


def shipped_templates() -> dict[str, ProgramTemplate]:
    """The templates that come with eqfuzz, by name."""
    return {path.stem: read_template(path) for path in sorted(SHIPPED.glob("*.toml"))}


def template_of(path: Path) -> ProgramTemplate:
    """The template in a TOML file, or in a Python file that defines ``template``. Raises InvalidTemplate."""
    if path.suffix != ".py":
        return read_template(path)
    try:
        template = runpy.run_path(str(path)).get("template")
    except (Exception, SystemExit) as error:  # any error of the user's file
        raise InvalidTemplate(f"{path}: {error_line(error)}") from error
    if not isinstance(template, ProgramTemplate):
        raise InvalidTemplate(f"{path}: defines no `template = ProgramTemplate(...)`")
    return template if template.name else template.model_copy(update={"name": path.stem})


def is_file_name(name: str) -> bool:
    """Whether ``name`` is that of a file with a template of one's own, not of a shipped template."""
    return name.endswith((".toml", ".py"))


def templates_named(name: str) -> dict[str, ProgramTemplate]:
    """The shipped template of that name, that of a file, or all shipped ones for ``mixed``, by their names.

    Raises InvalidTemplate, with a suggestion for an unknown name.
    """
    shipped = shipped_templates()
    if name == MIXED:
        return shipped
    if name in shipped:
        return {name: shipped[name]}
    if is_file_name(name):
        template = template_of(Path(name))
        return {template.name: template}
    names = [*shipped, MIXED]
    hint = did_you_mean(name, names)
    raise InvalidTemplate(f"no template {name!r}{hint}; known: {', '.join(names)}, and .toml or .py files of yours")
