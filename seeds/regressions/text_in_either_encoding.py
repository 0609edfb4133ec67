"""A name in one encoding or another (docs/findings/134)."""


def program(values):
    try:
        name = b"\xe9t\xe9".decode("utf-8")
    except UnicodeDecodeError:
        name = b"\xe9t\xe9".decode("latin-1")
    return values + 1, name


def inputs(rng):
    yield (rng.normal(3, 2),)
