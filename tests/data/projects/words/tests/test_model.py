import pytest
import torch
from words.model import Tagger, score

import eqfuzz


@pytest.mark.eqfuzz(variants=1)
def test_tagger_may_be_compiled():
    eqfuzz.assert_equivalent(Tagger(), torch.randint(50, (2, 7)))


def test_score_may_be_compiled():
    eqfuzz.assert_equivalent(torch.compile(score), torch.randn(2, 5, 4), torch.randint(4, (2, 5)))
