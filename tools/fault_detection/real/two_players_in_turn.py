"""Two players take turns; whose turn it is decides which way the score moves."""

# /// defect
# cause = "Dynamo does not guard the identities that it compares with is"
# url = "https://github.com/pytorch/pytorch/issues/196173"
# torch = ">=2.13"
# kinds = ["wrong-result", "wrong-side-effect"]
# ///


class Player:
    pass


class Game:
    def __init__(self):
        self.white = Player()
        self.black = Player()
        self.turn = self.white


game = Game()


def program(score, move):
    if game.turn is game.white:
        game.turn = game.black
        return score + move
    game.turn = game.white
    return score - move


def inputs(rng):
    yield rng.normal(4), rng.uniform(4)
    yield rng.normal(4), rng.uniform(4)
    yield rng.normal(4), rng.uniform(4)
