"""A setting is changed, and the names of all settings handed back in their order (docs/findings/064)."""


class Settings:
    def __init__(self):
        self.scale, self.shift = 2.0, 1.0


SETTINGS = Settings()


def program(x):
    SETTINGS.shift = 3.0
    return list(vars(SETTINGS)), x * SETTINGS.scale + SETTINGS.shift


def inputs(rng):
    yield (rng.normal(3),)
