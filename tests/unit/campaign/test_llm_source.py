"""Configuration of a campaign's model: messages about invalid entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from eqfuzz.campaign.configuration import from_tables
from eqfuzz.campaign.sources.llm import LlmSeeds, llm_request_of
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event

USABLE = {"name": "played", "base_url": "http://127.0.0.1:1/v1", "price": "1,4"}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"base_url": "ftp://x"}, "model.base_url: 'ftp://x' is not an address"),
        ({"name": "\n"}, "model.name: '\\n' is not the name of a model"),
        ({"key_env": "NOT_THERE"}, "model.key_env: the environment variable NOT_THERE holds no key"),
        ({"key_file": "/no/such/file"}, "model.key_file: /no/such/file: cannot be read"),
        ({"price": "cheap"}, "model.price: 'cheap': write dollars"),
        ({"price": ""}, "model.price: no price is known for 'played' at 127.0.0.1:1"),
        ({"prompts": ["lops"]}, "model.prompts: no prompt 'lops', did you mean 'loops'?"),
        ({"prompts": []}, "model.prompts: name one"),
        ({"prompts": ["missing/mine.txt"]}, "model.prompts: missing/mine.txt"),
        ({"targets": ["lowering:*"]}, "model.targets: it needs a prompt that shows a part"),
        (
            {"prompts": ["white-box"], "targets": ["nothing:*"]},
            "model.targets: no part of this torch's compiler matches",
        ),
    ],
)
def test_invalid_entry_is_named_in_one_line(tmp_path, entries, message):
    configuration = from_tables({"model": {**USABLE, **entries}}, "here")
    with pytest.raises(UsageError) as raised:
        llm_request_of(configuration, tmp_path)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_source_is_named_by_prompts_and_reports_its_cost(tmp_path):
    tables = {"model": {**USABLE, "prompts": ["loops", "numpy"]}, "budget": {"dollars": 0.5}}
    request = llm_request_of(from_tables(tables, "here"), tmp_path)
    events: list[Event] = []
    spending: list[Mapping[str, Any]] = []
    with LlmSeeds(request, events.append, spending.append) as source:
        assert source.name == "llm:loops+numpy"
        assert not source.is_broke
        assert source.figures() == {"queries": 0, "dollars": 0.0, "samples": {}}
        with pytest.raises(UsageError, match="another run is using it"):
            LlmSeeds(request, events.append, spending.append)
    assert events == []
    assert spending == [{"queries": 0, "dollars": 0.0, "samples": {}}]
