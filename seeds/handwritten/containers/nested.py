"""Dicts in lists in tuples, in and out, with None, strings and Python numbers beside the tensors."""

import torch


def program(batch, options):
    layers = []
    for i, item in enumerate(batch["items"]):
        value = item["x"] * (i + 1) + options.get("shift", 0)
        layers.append({"name": item["name"].upper(), "value": value, "top": torch.amax(value, dim=-1)})
    total = sum(layer["value"] for layer in layers)
    extra = {key: total - value for key, value in batch["extra"].items()} if options["extra"] else None
    return {"layers": layers, "total": (total, torch.mean(total)), "extra": extra, "count": len(layers)}


def inputs(rng):
    items = [{"name": name, "x": rng.normal(3, 40)} for name in ("low", "high")]
    yield {"items": items, "extra": {"a": rng.normal(40), "b": rng.normal(3, 1)}}, {"extra": True, "shift": 2}
    yield {"items": items[:1], "extra": {}}, {"extra": False}
