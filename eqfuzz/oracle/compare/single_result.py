"""One item of the tuple that a program returns, apart from the others: what an observation says about it."""

from __future__ import annotations

import dataclasses
import re
from typing import NamedTuple

from eqfuzz.oracle.observe.observation import CallObservation, Leaves, Observation

_PLACE = re.compile(r"\b(?:(?:output|args)\[\d+\]|model\.\w+)")
_GROUPS = ("outputs", "structures", "traits", "shared", "inputs_after", "state_after", "gradients")


class ResultPlaces(NamedTuple):
    """What belongs to a result: the positions of ``arguments``, and the name of a submodule of the program."""

    arguments: tuple[int, ...]
    module: str = ""


def result_alone(observation: Observation, item: int, own: ResultPlaces) -> Observation:
    """The leaves of ``output[item]`` and of what belongs to it, with their gradients.

    What is about the program as a whole is left out: its structure, so that containers of the item are compared by the
    paths of their leaves only; printed lines, warnings, the states of random generators.
    """
    places = {f"output[{item}]", f"model.{own.module}", *(f"args[{position}]" for position in own.arguments)}
    return Observation([_alone(call, places) for call in observation.calls], observation.seconds)


def _alone(call: CallObservation, places: set[str]) -> CallObservation:
    groups = {group: _about(getattr(call, group), places) for group in _GROUPS}
    return dataclasses.replace(call, structure="", printed=[], warned=[], generators=[], **groups)


def _about(leaves: Leaves, places: set[str]) -> Leaves:
    """The leaves whose paths name these places only."""
    return [(path, leaf) for path, leaf in leaves if places.issuperset(_PLACE.findall(path))]
