"""A matrix with its inner part, which sees what is written to it (docs/findings/139)."""


def program(matrix, part):
    matrix.add_(1)
    return part * 2


def inputs(rng):
    matrix = rng.normal(3, 3)
    yield matrix, matrix[1:, 1:]
