"""A name of which the encoding is found by trying (docs/findings/065)."""


def program(x):
    try:
        name = b"caf\xe9".decode("utf-8")
    except UnicodeDecodeError:
        name = b"caf\xe9".decode("latin-1")
    return x + len(name)


def inputs(rng):
    yield (rng.normal(3),)
