"""Torch's own fuzzer of configurations. Importing this raises ImportError in torch 2.6, which has none."""

from torch._inductor.fuzzer import (
    DEFAULT,
    MODULE_DEFAULTS,
    ConfigFuzzer,
    ConfigType,
    FactoryType,
    ResultType,
    SamplingMethod,
    Status,
)

__all__ = [
    "DEFAULT",
    "MODULE_DEFAULTS",
    "ConfigFuzzer",
    "ConfigType",
    "FactoryType",
    "ResultType",
    "SamplingMethod",
    "Status",
]
