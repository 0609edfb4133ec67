"""The ninth frame of a clip, or all of it where there are fewer (docs/findings/061)."""


def program(clip):
    try:
        return clip[9] * 2
    except IndexError:
        return clip + 1


def inputs(rng):
    yield (rng.normal(3, 4),)
