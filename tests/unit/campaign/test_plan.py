"""Plans of epochs: decided by the random seed and by what was learnt."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from eqfuzz.campaign.configuration import Configuration, from_tables
from eqfuzz.campaign.engine.plan import NothingToDo, SearchSpace, plan_epoch
from eqfuzz.campaign.feedback.bandit import Bandit
from eqfuzz.campaign.sources.files import CorpusSeeds, DrawHistory, SeedFiles, TemplateSeeds
from eqfuzz.campaign.store.records import Arm, CorpusEntry
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.template import shipped_templates
from eqfuzz.run.configs.named import BUILT_IN, Config

NOTHING = DrawHistory(Counter(), frozenset())


def digest(text: str) -> str:
    return f"digest of {len(text)}"


def planned(configuration: Configuration, sources, epoch=2, bandit=None, drawn=NOTHING, met=None):
    space = SearchSpace(sources, ["forms", "layout"], ["inductor", "eager"])
    return plan_epoch(configuration, epoch, space, bandit or Bandit(), drawn, digest, met or {})


@pytest.fixture
def files(tmp_path: Path) -> SeedFiles:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text(f"# {name}\n")
    return SeedFiles("folder:s", sorted(tmp_path.iterdir()))


def test_the_same_seed_plans_the_same(files):
    generated = TemplateSeeds("fusion", ProgramGenerator(shipped_templates()["fusion"]), 5)
    one, again = (planned(Configuration(seed=5), [files, generated]) for _ in range(2))
    other = planned(Configuration(seed=6), [files, generated])
    assert one == again != other
    assert [item.number for item in one] == list(range(16))
    assert {item.arms["source"] for item in one} == {"folder:s", "template:fusion"}


def test_first_epoch_is_small(files):
    assert len(planned(Configuration(), [files], epoch=1)) == 4
    assert len(planned(from_tables({"feedback": {"epoch": 3}}, "here"), [files], epoch=1)) == 3


def test_smallest_seeds_of_the_first_epoch_run_first(tmp_path):
    for size, name in ((400, "a"), (100, "b"), (300, "c"), (200, "d")):
        (tmp_path / f"{name}.py").write_text("#" * size)
    source = SeedFiles("folder:s", sorted(tmp_path.iterdir()))
    first = planned(Configuration(), [source], epoch=1)
    assert [(item.number, Path(item.name).stem) for item in first] == [(0, "b"), (1, "d"), (2, "c"), (3, "a")]
    later = [Path(item.name).stem for item in planned(Configuration(), [source])]
    assert later[:4] != ["b", "d", "c", "a"]


def test_files_are_drawn_equally_often_and_invalid_ones_are_not(files, tmp_path):
    configuration = from_tables({"feedback": {"epoch": 6}}, "here")
    times = Counter(item.name for item in planned(configuration, [files]))
    assert set(times.values()) == {2}
    drawn = DrawHistory(Counter(), frozenset({str(tmp_path / "b.py")}))
    assert str(tmp_path / "b.py") not in {item.name for item in planned(configuration, [files], drawn=drawn)}


def test_plan_without_a_seed_is_refused(files, tmp_path):
    drawn = DrawHistory(Counter(), frozenset(str(path) for path in tmp_path.iterdir()))
    with pytest.raises(NothingToDo):
        planned(Configuration(), [files], drawn=drawn)


def test_feedback_steers_and_can_be_off(files, tmp_path):
    poor = SeedFiles("folder:poor", sorted(tmp_path.iterdir()))
    bandit = Bandit([Arm("source", "folder:poor", 0.0, 500.0, 9), Arm("source", "folder:s", 400.0, 500.0, 9)])
    steered = planned(Configuration(), [files, poor], bandit=bandit)
    assert {item.arms["source"] for item in steered} == {"folder:s"}
    assert all(item.options.favoured for item in steered)
    uniform = planned(from_tables({"feedback": {"enabled": False}}, "here"), [files, poor], bandit=bandit)
    assert {item.arms["source"] for item in uniform} == {"folder:s", "folder:poor"}
    assert not any(item.options.favoured for item in uniform)


def test_confirmed_symptoms_are_options_of_the_item(files):
    symptom = ("cpu", "inductor", "wrong-result", "output[0]")
    items = planned(Configuration(), [files], met={digest("# a\n"): {symptom}})
    assert all(item.options.met == (symptom,) for item in items)


def test_corpus_gives_its_entries():
    entries = [CorpusEntry(f"d{n}", f"n{n}.py", "", {}, (), frozenset({n}), 1.0) for n in range(3)]
    source = CorpusSeeds(entries, lambda digest: f"# {digest}\n")
    drawn = [source.draw(random.Random(n), n, NOTHING) for n in range(20)]
    assert {seedling.text for seedling in drawn if seedling} <= {"# d0\n", "# d1\n", "# d2\n"}
    assert len({seedling.name for seedling in drawn if seedling}) > 1


def test_programs_of_a_template_are_compiled_as_it_asks_unless_the_user_names_configurations():
    def configs(open_to_seeds, template="unbacked"):
        source = TemplateSeeds(template, ProgramGenerator(shipped_templates()[template]), 5)
        space = SearchSpace([source], ["forms"], ["inductor", "eager"], seed_configs=frozenset(open_to_seeds))
        items = plan_epoch(Configuration(), 1, space, Bandit(), NOTHING, digest, {})
        assert all(item.options.configs == (item.arms["config"],) for item in items)
        return {item.arms["config"] for item in items}

    assert configs(BUILT_IN) == {"inductor-scalar-outputs"}
    assert configs(BUILT_IN, "fusion") == configs(()) == {"inductor", "eager"}


def test_an_original_that_hangs_is_not_run_again(files):
    met = {"# a\n": {("cpu", "inductor", "hang", "no answer")}, "# b\n": {("cpu", "inductor", "process-crash", "x")}}
    corpus = CorpusSeeds([CorpusEntry("# a\n", "corpus/a.py", "", {}, (), frozenset({1}), 1.0)], lambda text: text)
    space = SearchSpace([files, corpus], ["forms"], ["inductor"])
    items = plan_epoch(Configuration(), 2, space, Bandit(), NOTHING, lambda text: text, met)
    assert len(items) == 16
    assert {item.program for item in items} == {"# b\n", "# c\n"}


def test_mutated_configurations_start_from_those_of_the_corpus(files):
    good = {"name": "mutated-1", "graph": [{"point": "joint", "rule": "copied", "place": 3}]}
    entry = CorpusEntry("# a\n", "corpus/a.py", "", {}, (), frozenset({1}), 1.0, good)
    space = SearchSpace([CorpusSeeds([entry], lambda text: text)], ["forms"], ["inductor", "mutated"])
    items = plan_epoch(Configuration(), 2, space, Bandit(), NOTHING, lambda text: text, {})
    assert items == plan_epoch(Configuration(), 2, space, Bandit(), NOTHING, lambda text: text, {})
    mutated = [item for item in items if item.arms["config"] == "mutated"]
    assert 0 < len(mutated) < len(items)
    assert all(item.options.configs == (item.options.settings["name"],) for item in mutated)
    steps = [Config(**item.options.settings).graph for item in mutated]
    assert any(step.rule == "copied" and step.place == 3 for one in steps for step in one)
    assert not any(item.options.settings for item in items if item not in mutated)


def test_tiers_are_arms_of_configurations_that_lower_graphs():
    generated = TemplateSeeds("fusion", ProgramGenerator(shipped_templates()["fusion"]), 5)
    space = SearchSpace([generated], ["forms"], ["inductor", "eager"], frozenset(["inductor"]))
    poor = [Arm("tier", tier, 0.0, 900.0, 9) for tier in ("first-graphs", "code")]
    bandit = Bandit([Arm("tier", "graphs", 900.0, 10.0, 9), *poor])

    def tiers(configuration: Configuration, bandit: Bandit) -> Counter[tuple[str, str | None, bool, bool]]:
        items = plan_epoch(configuration, 2, space, bandit, NOTHING, digest, {})
        return Counter(
            (item.arms["config"], item.arms.get("tier"), item.options.graphs_first, item.options.first_call)
            for item in items
        )

    drawn = tiers(from_tables({"feedback": {"epoch": 400}}, "here"), Bandit())
    to_code, to_graphs = ("inductor", "code", False, False), ("inductor", "graphs", True, False)
    without_tier = ("eager", None, False, False)
    assert set(drawn) == {to_code, to_graphs, ("inductor", "first-graphs", True, True), without_tier}
    steered = tiers(Configuration(), bandit)
    assert steered[to_graphs] > 3 * (steered.total() - steered[to_graphs] - steered[without_tier])
    assert drawn["inductor", "first-graphs", True, True] > drawn[to_code] + drawn[to_graphs]
    only_code = tiers(from_tables({"compiling": {"tiers": ["code"]}}, "here"), bandit)
    assert set(only_code) == {to_code, without_tier}


def test_first_call_of_a_seed_is_judged_alone_once(files):
    space = SearchSpace([files], ["forms"], ["inductor"], frozenset(["inductor"]))
    bandit = Bandit([Arm("tier", "first-graphs", 900.0, 10.0, 9)])
    items = plan_epoch(Configuration(), 2, space, bandit, NOTHING, digest, {})
    alone = [item.name for item in items if item.options.first_call]
    assert alone
    assert len(set(alone)) == len(alone)
