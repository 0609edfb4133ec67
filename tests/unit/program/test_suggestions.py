from eqfuzz.program.suggestions import closest, did_you_mean, similar

NAMES = ("inductor", "aot_eager", "eager")


def test_closest_name_is_suggested():
    assert closest("inducter", NAMES) == "inductor"
    assert did_you_mean("inducter", NAMES) == ", did you mean 'inductor'?"


def test_nothing_is_suggested_for_a_name_like_no_other():
    assert closest("xyz", NAMES) is None
    assert did_you_mean("xyz", NAMES) == ""


def test_cutoff_decides_which_names_are_similar():
    assert closest("induct", NAMES, cutoff=0.95) is None


def test_similar_names_come_best_first():
    assert similar("eager", iter(NAMES), limit=3) == ["eager", "aot_eager"]
    assert similar("eager", iter(NAMES), limit=1) == ["eager"]
