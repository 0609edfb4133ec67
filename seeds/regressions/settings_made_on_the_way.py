"""Settings that are made where they are used, handed back as a dictionary (docs/findings/063)."""


class Settings:
    def __init__(self, scale):
        self.scale = scale


def program(x):
    settings = Settings(2)
    return vars(settings), x * settings.scale


def inputs(rng):
    yield (rng.normal(3),)
