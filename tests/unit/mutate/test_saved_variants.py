"""Variants as seed files."""

from eqfuzz.mutate.saved_variants import keep_variant, kept_rules
from eqfuzz.program.formats import read_program

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


def test_other_seeds_have_no_rules(tmp_path):
    for number, text in enumerate(("", SOURCE, "# A variant of x")):
        path = tmp_path / f"{number}.py"
        path.write_text(text)
        assert kept_rules(path) == []
