"""Declarations of operators in files of users."""

import random

import pytest

from eqfuzz.generate.dag.catalogue.operator import operators
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Spec

DECLARATION = """
from eqfuzz.generate.dag.catalogue.operator import Needs, operator


@operator("mine", dtypes=["float32"], {hint}="doubled")
def mine(draw, out):
    return Needs(out.free(), {forms}=["{{0}} * {{k}}"], k=2)
"""


@pytest.mark.parametrize(("hint", "forms"), [("name_hint", "forms"), ("noun", "spellings")])
def test_former_keywords_of_declarations_still_work(tmp_path, hint, forms):
    file = tmp_path / f"{hint}.py"
    file.write_text(DECLARATION.format(hint=hint, forms=forms), encoding="utf-8")
    mine = operators([file])["mine"]
    needs = mine.needs(Draw(random.Random(0)), Spec((2,), "float32"))
    assert mine.name_hint == "doubled"
    assert needs.forms == ("{0} * {k}",)
    assert needs.params == {"k": 2}
