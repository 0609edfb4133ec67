"""What a campaign does with items that do not end after Ctrl-C."""

from __future__ import annotations

import threading
import types
from typing import Any

import pytest

from eqfuzz.campaign.engine import loop as engine
from eqfuzz.campaign.engine.loop import CampaignLoop


def test_items_that_do_not_end_after_ctrl_c_are_interrupted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "FINISHING_SECONDS", 0.1)
    monkeypatch.setattr(CampaignLoop, "_interrupt", lambda _: None)
    monkeypatch.setattr(CampaignLoop, "_halt", lambda self: self._stop.set())
    campaign: Any = object.__new__(CampaignLoop)
    campaign._stop, campaign._interrupts = threading.Event(), 1
    campaign._budget = types.SimpleNamespace(is_late=False)
    item = threading.Thread(target=campaign._stop.wait, args=(60,))
    item.start()
    campaign._await_end([item])
    assert campaign._stop.is_set()
