"""eqfuzz: a fuzzer for PyTorch's compiler built on equal programs."""

__version__ = "0.1.0"
