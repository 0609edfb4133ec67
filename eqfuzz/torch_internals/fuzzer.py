"""Torch's own fuzzer of configurations. Importing this raises ImportError in torch 2.6, which has none."""

from torch._inductor.fuzzer import (
    DEFAULT,
    MODULE_DEFAULTS,
    ConfigFuzzer,
    ConfigType,
    FactoryOutputType,
    FactoryType,
    ResultType,
    SamplingMethod,
    SamplingType,
    Status,
    visualize_results,
)

__all__ = [
    "DEFAULT",
    "MODULE_DEFAULTS",
    "ConfigFuzzer",
    "ConfigType",
    "FactoryOutputType",
    "FactoryType",
    "ResultType",
    "SamplingMethod",
    "SamplingType",
    "Status",
    "visualize_results",
]
