"""Labels as wide as the columns of a table (docs/findings/132)."""


def program(values):
    names = [format(name, ">5") for name in ("a", "sum")]
    return values + 1, names, format(2.5, ".3f")


def inputs(rng):
    yield (rng.normal(3, 2),)
