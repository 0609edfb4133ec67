"""Known issues: what they fit, how long, and what is said of a list that is wrong."""

import dataclasses
import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.events.run import CellJudged
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.program.shipped import folder
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.findings.finding import ReductionResult
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.known_issues import (
    SHIPPED,
    USUAL,
    KnownIssue,
    append,
    is_named,
    known_as,
    known_issue_files,
    read_known_issues,
    reproducing_seeds,
    searched_text,
)
from tests.unit.triage.findings import finding_of
from tests.unit.triage.known_findings import recorded

FOLDING = "joint_graph_passes: constant_fold_uniform_value"
DAY = datetime.date(2026, 6, 30)
AMIN = finding_of(fingerprint="values · Inductor, lowerings: amin", suspects=("aten.amin.default: wrong by 3",))


def issue(**fields):
    return KnownIssue(**{"url": "https://github.com/pytorch/pytorch/issues/1", "added": DAY, **fields})


@pytest.mark.parametrize(
    ("entry_fields", "fits"),
    [
        ({"fingerprint": AMIN.fingerprint}, True),
        ({"fingerprint": "values · Inductor, lowerings: ami"}, False),
        ({"regex": r"^wrong-result: it differs$"}, False),
        ({"regex": r"(?m)^wrong-result: it differs$"}, True),
        ({"regex": r"lowerings: am(in|ax)"}, True),
        ({"regex": r"aten\.amin"}, True),
        ({"regex": r"aten\.amax"}, False),
    ],
)
def test_fingerprint_is_compared_and_regex_is_searched(entry_fields, fits):
    assert issue(**entry_fields).fits(AMIN) is fits


def test_each_part_is_one_line_for_the_regex():
    finding = finding_of(VerdictKind.COMPILER_CRASH, message="one\n two", fingerprint="raises · x")
    assert searched_text(finding) == "compiler-crash: one two\nraises · x\nseed: seeds/some.py"


@pytest.mark.parametrize(("days", "counts"), [(-1, True), (0, False), (1, False)])
def test_an_entry_expires(days, counts):
    entry = issue(regex="differs", expires=DAY)
    assert (known_as(AMIN, [entry], DAY + datetime.timedelta(days)) is entry) is counts
    assert entry.fits(AMIN)


@pytest.mark.parametrize(
    ("torch", "fits"),
    [
        ("2.14.1", True),
        ("2.15.0", False),
        ("2.15.0.dev20260901+cpu", False),
        ("2.14.0.dev20260801+cu132", True),
        ("", True),
    ],
)
def test_entry_matches_only_releases_of_its_range(torch, fits):
    finding = dataclasses.replace(AMIN, environment=FindingEnvironment(torch=torch))
    assert issue(regex="differs", torch=">=2.13,<2.15").fits(finding) is fits


FORWARD = finding_of(fingerprint="values · AOTAutograd · unfold")
GRADIENT = dataclasses.replace(FORWARD, verdict=dataclasses.replace(FORWARD.verdict, kind=VerdictKind.WRONG_GRADIENT))
SHAPE = finding_of(
    VerdictKind.WRONG_METADATA,
    fingerprint="metadata · AOTAutograd · unfold",
    evidence=Evidence(path="gradient of args[0]"),
)
WRITTEN = dataclasses.replace(FORWARD, fingerprint="values · AOTAutograd · in-place, unfold")
EFFECT = finding_of(VerdictKind.WRONG_SIDE_EFFECT, fingerprint="values · Inductor, lowerings: unfold")


@pytest.mark.parametrize(
    ("finding", "direction", "access"),
    [
        (FORWARD, "forward", "read"),
        (GRADIENT, "gradient", "read"),
        (SHAPE, "gradient", "read"),
        (WRITTEN, "forward", "write"),
        (EFFECT, "forward", "write"),
    ],
)
def test_an_entry_has_a_direction_and_an_access(finding, direction, access):
    assert [one for one in ("forward", "gradient") if issue(regex=".", direction=one).fits(finding)] == [direction]
    assert [one for one in ("read", "write") if issue(regex=".", access=one).fits(finding)] == [access]


def test_another_defect_of_unfold_is_new():
    shipped = read_known_issues([SHIPPED])
    matches = [known_as(one, shipped, datetime.date(2026, 12, 1)) for one in (GRADIENT, FORWARD, WRITTEN, EFFECT)]
    assert [one is not None for one in matches] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "fits"), [("some.py", False), ("seeds/some.py", False), ("eeds/some.py", True), ("other.py", True)]
)
def test_findings_of_not_seeds_do_not_match(name, fits):
    assert issue(regex="differs", not_seeds=(name,)).fits(AMIN) is fits


def test_first_matching_entry_is_returned():
    issues = [issue(regex="no such"), issue(regex="differs", expires=DAY), issue(regex="amin"), issue(regex="differs")]
    assert known_as(AMIN, issues, DAY) is issues[2]
    assert known_as(AMIN, [], DAY) is None


HEAD = "[[issue]]\nurl = 'u'\nadded = 2026-01-01\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "regex = 'a'\nregexp = 'b'\n", ("issue.1.regexp", "Extra inputs")),
        (HEAD + "regex = 'a'\n" + HEAD + "regex = '(a'\n", ("issue.2", "regex: ")),
        (HEAD, ("issue.1", "either a fingerprint or a regex")),
        (HEAD + "regex = 'a'\nfingerprint = 'b'\n", ("issue.1", "either a fingerprint or a regex")),
        (HEAD + "regex = 'a'\nexpires = 'soon'\n", ("issue.1.expires",)),
        (HEAD + "regex = 'a'\ntorch = '2.13 on'\n", ("issue.1.torch", "no range of versions")),
        (HEAD + "regex = 'a'\ndirection = 'backward'\n", ("issue.1.direction", "'forward' or 'gradient'")),
        (HEAD + "regex = 'a'\naccess = 'in-place'\n", ("issue.1.access", "'read' or 'write'")),
        ("[[issue]]\nregex = 'a'\nadded = 2026-01-01\n", ("issue.1.url", "required")),
        ("[[isue]]\n", ("isue",)),
        ("issue = 3\n", ("issue",)),
        ("[[issue\n", ("not valid TOML",)),
        (b"\xff\xfe", ("not valid TOML",)),
        (None, ("cannot be read", "No such file")),
    ],
)
def test_invalid_list_is_reported_with_file_and_location(tmp_path, text, words):
    file = tmp_path / "known.toml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as caught:
        read_known_issues([SHIPPED, file])
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_nothing_is_added_to_an_invalid_list(tmp_path):
    file = tmp_path / "known.toml"
    file.write_text("[[issue\n")
    with pytest.raises(ValueError, match="not valid TOML"):
        append(file, issue(regex="a"))
    assert file.read_text() == "[[issue\n"


def test_the_shipped_list_is_valid():
    entries = read_known_issues([SHIPPED])
    assert len(entries) > 10, "TorchFuzz's two and those of the shipped seeds"
    for entry in entries:
        assert entry.url.startswith("https://github.com/pytorch/pytorch/") or entry.url == "(not reported)"
        assert entry.title
        assert entry.added <= datetime.date.today()
        for seed in (*entry.seeds, *entry.not_seeds):
            assert (folder("seeds") / seed).is_file(), f"{seed} has moved"


RECORDED = recorded()


@pytest.mark.parametrize("entry", read_known_issues([SHIPPED]), ids=lambda entry: entry.title)
def test_a_shipped_entry_fits_the_findings_of_its_seeds_and_no_others(entry):
    fitting = [finding for finding in RECORDED if entry.fits(finding)]
    for seed in entry.seeds:
        assert any(is_named(finding.original.name, seed) for finding in fitting), f"{seed} shows another thing"
    for finding in fitting:
        assert any(is_named(finding.original.name, seed) for seed in entry.seeds), f"it takes {searched_text(finding)}"


@pytest.mark.parametrize(
    ("step", "place", "is_known"),
    [
        ("args[0] and args[1] overlap", "AOTAutograd · in-place", True),
        ("args[1] is args[0]", "AOTAutograd · in-place", False),
        ("args[0] and args[1] overlap", "Inductor · in-place", False),
    ],
)
def test_overlap_after_separate_arguments_is_known_and_a_lost_guard_on_identity_is_new(step, place, is_known):
    finding = finding_of(
        message=f"call 4 ({step}): output[3]: eager gives 3 and compiled gives 2", fingerprint=f"values · {place}"
    )
    assert bool(known_as(finding, read_known_issues([SHIPPED]), DAY)) is is_known


def test_shipped_entries_do_not_rely_on_not_seeds_alone():
    left_out = [(entry, seed) for entry in read_known_issues([SHIPPED]) for seed in entry.not_seeds]
    assert left_out
    for entry, seed in left_out:
        findings = [finding for finding in RECORDED if is_named(finding.original.name, seed)]
        wide = entry.model_copy(update={"not_seeds": ()})
        assert findings, f"{entry.title}: {seed}"
        assert not any(wide.fits(finding) for finding in findings), f"{entry.title}: {seed}"


@pytest.mark.parametrize(
    ("place", "message", "is_known"),
    [
        ("lowerings: amin", "eager gives 9 and compiled gives 0; reference 9, allowed distance 0;", True),
        ("lowerings: amin", "eager gives 9 and compiled gives 8; reference 9, allowed distance 0;", False),
        ("lowerings: amin", "eager gives 9 and compiled gives 0; reference 9, allowed distance 2e-6;", False),
        (FOLDING, "eager gives nan and compiled gives 0;", True),
        (FOLDING, "eager gives 3 and compiled gives -3;", False),
        (FOLDING, "eager gives nan and compiled gives 0.5;", False),
    ],
)  # fmt: skip
def test_other_defect_of_a_component_with_a_known_issue_is_new(place, message, is_known):
    """A part of the compiler is not given up for one issue in it."""
    findings = finding_of(message=message, fingerprint=f"values · Inductor, {place}")
    assert (known_as(findings, read_known_issues([SHIPPED]), datetime.date(2026, 12, 1)) is not None) == is_known


@pytest.mark.parametrize(
    ("seed", "is_known"), [("records.py", True), ("more/complete_records.py", True), ("rows.py", False)]
)
def test_defect_of_the_tutorial_is_known_without_an_operator_that_is_wrong_by_itself(seed, is_known):
    """On processors without AVX-512 only the numbers of the whole program are wrong."""
    message = "output[1]: eager gives -1.17 and compiled gives 0; reference -1.17, allowed distance 2e-6; "
    message += "32 of 32 elements are wrong"
    finding = finding_of(message=message, fingerprint="values · Inductor, lowerings: amin").for_seed(seed)
    assert (known_as(finding, read_known_issues([SHIPPED]), datetime.date(2026, 12, 1)) is not None) == is_known


def test_shipped_list_is_read_with_the_files_named_or_the_usual_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert known_issue_files([]) == (SHIPPED,)
    USUAL.write_text("")
    assert known_issue_files([]) == (SHIPPED, USUAL)
    assert known_issue_files([tmp_path / "other"]) == (SHIPPED, tmp_path / "other")


TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.lists(st.sampled_from(["'", '"', "\\", "\n", "\r", "\t", "\x7f", "\0", "'''", '"""', "a", "ä", "😀", "#"])).map(
        "".join
    ),
)


@settings(deadline=None)
@given(
    TEXTS.filter(bool),
    TEXTS,
    TEXTS,
    st.one_of(st.none(), st.dates()),
    st.lists(TEXTS, max_size=3),
)
def test_added_entry_is_read_back(tmp_path_factory, fingerprint, url, title, expires, seeds):
    file = tmp_path_factory.mktemp("known") / "known.toml"
    entry = issue(fingerprint=fingerprint, url=url, title=title, expires=expires, seeds=tuple(seeds))
    other = issue(regex=r"it\sdiffers 'so'")
    append(file, entry)
    append(file, other)
    assert read_known_issues([file]) == (entry, other)


def test_entry_is_appended_after_a_last_line_without_newline(tmp_path):
    file = tmp_path / "known.toml"
    file.write_text((HEAD + "regex = 'a'").strip())
    append(file, issue(regex="b"))
    assert [entry.regex for entry in read_known_issues([file])] == ["a", "b"]


def test_text_without_utf_8_form_creates_no_file(tmp_path):
    with pytest.raises(ValueError):
        append(tmp_path / "known.toml", issue(regex="\ud800"))
    assert not (tmp_path / "known.toml").exists()


def reduced_from(rewrites: int) -> ReductionResult:
    return ReductionResult(rewrites=(rewrites, 0), statements=(3, 1), characters=(100, 50), tries=3)


@pytest.mark.parametrize(
    ("finding", "seeds"),
    [
        (finding_of(), ("seeds/some.py",)),
        (finding_of(reduced=reduced_from(0)), ("seeds/some.py",)),
        (finding_of(reduced=reduced_from(1)), ()),
        (finding_of(rules=("a/b",)), ()),
        (finding_of(rules=("a/b",), cells={"C(P)": "wrong-result", "C(P')": "wrong-result"}), ("seeds/some.py",)),
        (finding_of(config="inductor-dynamic"), ()),
        (finding_of(device="cuda"), ()),
        (finding_of(message="call 2 (sizes 3 become 2): it differs"), ()),
        (finding_of(message="call 2 (new values): it differs"), ("seeds/some.py",)),
    ],
)
def test_seed_is_recorded_where_it_shows_the_issue_as_it_is(finding, seeds):
    assert reproducing_seeds(finding) == seeds


def test_recorded_seed_is_named_relative_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, recorded_name in (
        (str(tmp_path / "mine" / "seed.py"), "mine/seed.py"),
        ("./seed.py", "seed.py"),
        ("../.hidden/seed.py", ".hidden/seed.py"),
        ("/elsewhere/seed.py", "/elsewhere/seed.py"),
    ):
        finding = finding_of()
        finding = dataclasses.replace(finding, original=dataclasses.replace(finding.original, name=name))
        (seed,) = reproducing_seeds(finding)
        assert seed == recorded_name
        assert is_named(name, seed)


def test_entry_of_a_user_is_reported_as_gone_once_its_seed_agrees(tmp_path):
    finding = dataclasses.replace(AMIN, environment=FindingEnvironment())
    entry = issue(fingerprint=finding.fingerprint, seeds=reproducing_seeds(finding))
    append(tmp_path / USUAL, entry)
    bucketer = Bucketer(tmp_path / "out", read_known_issues([tmp_path / USUAL]))
    cell = Cell(0, "cpu", "inductor", Verdict(VerdictKind.AGREE, "they agree"), 1.0)
    bucketer.note_event(CellJudged.of(0, finding.original.name, cell, []))
    assert bucketer.gone_issues() == [f"{entry.url} ({finding.fingerprint}): seeds/some.py compiles correctly"]
