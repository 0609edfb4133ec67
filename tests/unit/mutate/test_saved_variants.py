"""Variants as seed files."""

import pytest

from eqfuzz.mutate.saved_variants import keep_variant, kept_rules
from eqfuzz.program.formats import read_program
from eqfuzz.program.provenance import Provenance

SOURCE = '"""A seed."""\ndef program(x):\n    return x\ndef inputs(rng):\n    yield (1,)\n'


def test_saved_variant_names_its_rules(tmp_path):
    path = keep_variant(tmp_path / "kept", "seeds/some/seed.py", SOURCE, ["a/b", "c/d"])
    assert path.name.startswith("seed-")
    assert read_program(path, str(path)).entry == "program"
    assert kept_rules(path) == ["a/b", "c/d"]
    assert keep_variant(tmp_path / "kept", "seeds/some/seed.py", SOURCE, ["a/b"]) == path


def test_a_variant_of_an_untrusted_seed_is_untrusted(tmp_path):
    path = keep_variant(tmp_path / "kept", "seed.py", SOURCE, ["a/b"], untrusted=True)
    assert read_program(path).untrusted
    assert kept_rules(path) == ["a/b"]


@pytest.mark.parametrize("untrusted", [False, True])
def test_configurations_of_the_seed_hold_for_its_variants(tmp_path, untrusted):
    source = Provenance("template", configs=("inductor-scalar-outputs",)).header() + SOURCE
    path = keep_variant(tmp_path / "kept", "seed.py", source, ["a/b"], untrusted=untrusted)
    program = read_program(path)
    assert program.configs == ("inductor-scalar-outputs",)
    assert program.untrusted is untrusted
    assert kept_rules(path) == ["a/b"]


def test_other_seeds_have_no_rules(tmp_path):
    for number, text in enumerate(("", SOURCE, "# A variant of x")):
        path = tmp_path / f"{number}.py"
        path.write_text(text)
        assert kept_rules(path) == []
