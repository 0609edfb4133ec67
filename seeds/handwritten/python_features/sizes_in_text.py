"""Sizes and shapes in text."""


def program(x):
    n = x.shape[0]
    written = (
        f"{n}", str(n), repr(n), "%d" % n, "{:.2f}".format(n / 3), "a" * n, f"{x.dtype}", str(x.device), hex(n),
        bin(n),
    )
    formatted = (
        oct(n), chr(65 + n), ",".join((str(i) for i in range(n))), f"{x.shape}", f"{tuple(x.shape)}", f"{n!r:>5}",
        f"{n:>5}", f"n={n!r}", "{0}{0}".format(n), "%s %5.1f" % (n, n / 2),
    )
    searched = (
        "ab"[n % 2], f"{[n]}", str([n]), str((n, x.ndim)), str({"a": n}), "abc"[: n - 1], "b" in "abc",
        "a" + "b" * n, "x".encode(), "abc".translate({97: "z"}),
    )
    changed = (
        "Ab".swapcase(), "a b".title(), "abc".partition("b"), "abc".startswith(("a", "z")), "tEst".casefold(),
        "line\nb".splitlines(), "abc".isalpha(), "-3".isdigit(), ord("a") + n,
    )
    return written, formatted, searched, changed, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
