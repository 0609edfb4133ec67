"""Pictures multiplied by the number of their channels, which grey ones lack (docs/findings/062)."""


def program(picture):
    try:
        channels = picture.shape[2]
    except IndexError:
        channels = 1
    return picture * channels + 1


def inputs(rng):
    yield (rng.normal(4, 5),)
