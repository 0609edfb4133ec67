"""Signs of the terms of a series (docs/findings/133)."""

# /// eqfuzz
# configs = ["eager"]
# ///


def program(exponents):
    return (-2) ** exponents


def inputs(rng):
    yield (rng.integers(0, 5, 6).float(),)
