"""``eqfuzz generate``: programs on the screen or in a folder, and one line for whatever is wrong."""

import json
import re
import shutil

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app
from eqfuzz.generate.dag.catalogue.operator import operators


def invoke(*arguments):
    return CliRunner().invoke(app, ["generate", *map(str, arguments)])


def events_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_one_program_is_printed():
    result = invoke("dag", "--seed", 7)
    assert result.exit_code == 0
    assert "def inputs(rng):" in result.stdout
    assert result.stdout == invoke("dag", "--seed", 7).stdout != invoke("dag", "--seed", 8).stdout
    events = events_of(invoke("dag", "--seed", 7, "--format", "json"))
    assert events[0]["source"] == result.stdout
    assert events[0]["operators"]
    assert events[-1]["event"] == "summary"


def test_programs_are_written_to_folder(tmp_path):
    result = invoke("dag", "--start", 3, "--count", 5, "--template", "mixed", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    files = sorted((tmp_path / "programs").glob("*.py"))
    assert len(files) == 5
    assert not (tmp_path / "artifacts").exists()
    assert result.stdout.startswith("seeds 3 to 7  ·  template mixed")
    assert "5 programs  ·  template mixed" in result.stdout
    assert "seeds 3 to 7" in result.stdout.splitlines()[-1]
    assert "Operators used" in result.stdout
    assert str(tmp_path) in result.stdout.replace("\n", "")


def test_json_has_an_event_per_program_and_a_summary(tmp_path):
    events = events_of(invoke("dag", "--count", 3, "--out", tmp_path, "--format", "json"))
    assert [event["event"] for event in events] == ["program"] * 3 + ["summary"]
    uses = sum(len(event["operators"]) for event in events[:3])
    assert sum(events[-1]["operators"].values()) == uses
    assert events[-1]["programs"] == 3


def test_quiet_prints_only_totals(tmp_path):
    result = invoke("dag", "--count", 3, "--out", tmp_path, "--quiet")
    assert len(result.stdout.strip().splitlines()) == 1
    assert "3 programs" in result.stdout


def test_verbose_shows_the_programs(tmp_path):
    result = invoke("dag", "--count", 2, "--out", tmp_path, "--verbose")
    assert result.stdout.count("def inputs(rng):") == 2


def test_artifacts_agree_with_the_program(tmp_path):
    result = invoke("dag", "--seed", 4, "--out", tmp_path, "--artifacts")
    assert result.exit_code == 0, result.stderr
    folder = tmp_path / "artifacts" / "default-4"
    names = {file.name for file in folder.iterdir()}
    assert {"summary.txt", "operators.txt", "program.py", "graph.dot"} <= names
    assert ("graph.svg" in names) == (shutil.which("dot") is not None)
    program = (tmp_path / "programs" / "default-4.py").read_text()
    assert (folder / "program.py").read_text() == program
    summary = dict(re.split(r" {2,}", line, maxsplit=1) for line in (folder / "summary.txt").read_text().splitlines())
    assert list(summary) == ["program", "template", "seed", "status", "depth", "inputs", "returns", "operators"]
    assert summary["status"] == "not run"
    assert re.fullmatch(r"7 at most; the longest chain of operators has \d", summary["depth"])
    assert re.fullmatch(r"(\w+: \[.*\] \w+(; )?)+", summary["inputs"])
    listed = (folder / "operators.txt").read_text().splitlines()
    number, different = map(int, re.findall(r"\d+", summary["operators"]))
    used = [line.split(" -> ")[0].split(": ", 1)[1].rpartition(" = ")[2] for line in listed if "input" not in line]
    assert len(used) - 1 == number
    assert len(set(used)) - 1 == different
    assert (folder / "graph.dot").read_text().count("->") >= 1


def test_documented_line_of_operator_list(tmp_path):
    invoke("dag", "--seed", 4, "--out", tmp_path, "--artifacts")
    first, *_, last = (tmp_path / "artifacts" / "default-4" / "operators.txt").read_text().splitlines()
    assert re.fullmatch(r"n1: \w+ = input -> \[.*\] \w+ \(depth 0\)", first)
    assert re.fullmatch(r"n\d+: return -> .* \(depth \d\) <- n\d+.*", last)


@pytest.mark.parametrize("option", ["--supported-ops", "--op-weights"])
def test_operators_are_chosen(option):
    value = "torch.add=50,torch.nn.functional.relu=50"
    events = events_of(invoke("dag", "--seed", 1, option, value, "--format", "json"))[0]["operators"]
    assert {"torch.add", "torch.nn.functional.relu"} & set(events)


def uses(*arguments):
    """How often each operator is used in the programs that the arguments ask for."""
    return events_of(invoke("dag", *arguments, "--format", "json"))[-1]["operators"]


def test_weights_count_also_for_operators_named_without_one(tmp_path):
    def share(*weights):
        only = uses("--count", 30, "--out", tmp_path, "--supported-ops", "torch.add,torch.mul=2", *weights)
        return only["torch.add"] / (only["torch.add"] + only["torch.mul"])

    assert share() < 0.45
    assert share("--op-weights", "torch.add=50") > 0.8
    assert share("--op-weights", "torch.add=2,torch.mul=100") == share("--op-weights", "torch.add=2"), (
        "a weight of --supported-ops takes precedence"
    )


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("torch.nonzero", "torch.nonzero"),
        ("torch.ops.aten.nonzero", "torch.nonzero"),
        ("torch.masked_select", "torch.masked_select"),
        ("torch.ops.aten.masked_select", "torch.masked_select"),
        ("torch.unique", "torch.unique"),
        ("aten::unique", "torch.unique"),
        ("torch.ops.aten.item", "torch.Tensor.item"),
        ("torch.ops.aten.add.Tensor", "torch.add"),
        ("F.relu", "torch.nn.functional.relu"),
    ],
)
def test_operators_are_known_by_the_names_of_torch(tmp_path, name, declared):
    assert uses("--count", 5, "--out", tmp_path, "--supported-ops", name)[declared] >= 5


def test_debug_log_has_one_line_for_each_step(tmp_path):
    for arguments in (("--seed", 3), ("--seed", 3, "--out", tmp_path, "--artifacts")):
        lines = invoke("dag", *arguments, "--log-level", "debug").stderr.splitlines()
        steps = re.findall(r"default-3(?:\.py)?: (\w+) \d+\.\d{4} s$", "\n".join(lines), re.MULTILINE)
        assert steps == ["specs", "graph", "code", "write", "artifacts"][: 3 if len(arguments) == 2 else 5]
    assert not invoke("dag", "--seed", 3).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--template", "defualt"], "--template: no template 'defualt', did you mean 'default'?"),
        (["--template", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--supported-ops", "torch.ad"], "--supported-ops: no operator 'torch.ad', did you mean 'torch.add'?"),
        (["--supported-ops", "torch.ops.aten.ad"], "no operator 'torch.ops.aten.ad', did you mean 'torch.add'?"),
        (["--supported-ops", "torch.add=0"], "a weight is a number above 0"),
        (["--supported-ops", "torch.add=many"], "the weight is no number"),
        (["--op-weights", "torch.add"], "'torch.add' has no weight"),
        (["--max-depth", "21"], "--max-depth"),
        (["--operators-from", "nowhere.py"], "--operators-from: nowhere.py"),
        (["--seed", "3", "--count", "4"], "--seed: it names one program"),
        (["--config", "inductor"], "--config: it is about comparing, so it goes with --run"),
        (["--supported-ops", "dtensor: abs"], "--supported-ops: template default lets no operator in"),
        (["--supported-ops", "torch.add=nan"], "a weight is a number above 0"),
        (["--run", "--time", "soon"], "--time: 'soon' is not a duration"),
        (["--run", "--config", "inductr"], "did you mean 'inductor'?"),
        (["--count", "2", "--out", "FILE/x"], "--out"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path, capfd, arguments, message):
    file = tmp_path / "file"
    file.write_text("")
    result = invoke("dag", *(word.replace("FILE", str(file)) for word in arguments))
    errors = result.stderr + capfd.readouterr().err
    assert result.exit_code == 2, (result.exit_code, errors, result.exception)
    assert message in errors, errors
    assert len(errors.strip().splitlines()) == 1, errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depht = 3", "depht: Extra inputs are not permitted"),
        ("depth = 30", "depth: Input should be less than or equal to 20"),
        ("depth = ", "not valid TOML"),
        ("dtypes = {float23 = 1}", "dtypes: Value error, no such name: 'float23'; known: float32"),
        ("dtypes = {float32 = -1}", "dtypes.float32: Input should be greater than or equal to 0"),
        ("profiles = {normal = 0}", "every weight is 0"),
        ("families = {lnialg = 1}", "families: there is no 'lnialg', did you mean 'linalg'?"),
        ('operators = {"torch.ad" = 1}', "operators: there is no 'torch.ad', did you mean 'torch.add'?"),
        ('required = ["unbaked"]', "required: there is no 'unbaked', did you mean 'unbacked'?"),
        ('preamble = ["def ("]', "preamble: Value error, not valid Python"),
        ("others = 0", "mine.toml lets no operator in"),
    ],
)
def test_bad_template_is_one_line_and_exit_2(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    result = invoke("dag", "--template", file)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_broken_operator_file_is_one_line_and_exit_2(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import nothing_of_that_name\n")
    result = invoke("ops", "--operators-from", file)
    assert result.exit_code == 2
    assert "mine.py: ModuleNotFoundError" in result.stderr


@pytest.mark.parametrize(
    ("form", "needs", "message"),
    [("{0}", "Needs(1 / 0)", "operator mine: ZeroDivisionError"), ("({0}", "Needs(out)", "'({0}' is not Python")],
)
def test_operator_that_raises_is_one_line_and_exit_2(tmp_path, form, needs, message):
    file = tmp_path / "mine.py"
    file.write_text(
        "from eqfuzz.generate.dag.catalogue.operator import Needs, operator\n"
        f'@operator("mine", "{form}", dtypes=["float32"])\n'
        "def mine(draw, out):\n"
        '    """Breaks down."""\n'
        f"    return {needs}\n"
    )
    result = invoke("dag", "--seed", 1, "--operators-from", file, "--supported-ops", "mine")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_operators_are_listed():
    result = invoke("ops", "--format", "json")
    entries = events_of(result)
    names = [entry["name"] for entry in entries]
    assert len(names) == len(set(names)) >= 850
    assert set(names) > set(operators())
    assert all(entry["about"].endswith(".") for entry in entries if entry["spellings"] == []), (
        "structures say what they are"
    )
    assert "torch.add" in invoke("ops").stdout


def test_missing_file_of_operators_is_refused_in_one_line(tmp_path):
    result = invoke("ops", "--operators-from", str(tmp_path / "none.py"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"eqfuzz: --operators-from: {tmp_path}/none.py: no such file\n"


def test_campaign_suggests_a_template(tmp_path):
    result = CliRunner().invoke(app, ["campaign", "--template", "unbakced", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith("eqfuzz: --template: no template 'unbakced', did you mean 'unbacked'?; known: ")


def test_operators_are_listed_by_part_of_name_glob_and_family():
    def names(*arguments):
        return {entry["name"] for entry in events_of(invoke("ops", *arguments, "--format", "json"))}

    assert names("ADD") > {"torch.add", "torch.addmm"}
    assert all("add" in name.lower() for name in names("add"))
    assert {"torch.nonzero", "unbacked: unique"} < names("unbacked") == names("unb*")
    assert names("torch.add?m") == {"torch.addmm"}
    for pattern, hint in (("poool", "pooling"), ("unbaked*", "unbacked"), ("torch.nonzeros", "torch.nonzero")):
        result = invoke("ops", pattern)
        assert result.exit_code == 2
        assert result.stderr == f"eqfuzz: no operator fits {pattern!r}, did you mean {hint!r}?\n"


def test_every_operator_is_described():
    entries = events_of(invoke("ops", "--format", "json"))
    assert not [entry["name"] for entry in entries if not entry["about"].endswith(".")]
    assert not [entry["name"] for entry in entries if entry["about"].startswith(("partial(", "Create a new function"))]
    described = {entry["about"] for entry in entries if entry["family"] == "elementwise"}
    assert len(described) == sum(entry["family"] == "elementwise" for entry in entries), "each by a sentence of its own"


@pytest.mark.parametrize("columns", [80, 160])
def test_listed_names_are_never_cut(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = invoke("ops").stdout.splitlines()
    assert max(map(len, lines)) <= columns
    first = {re.split(r"  +", line)[0] for line in lines}
    assert {entry["name"] for entry in events_of(invoke("ops", "--format", "json"))} <= first
    assert not {"│", "┃", "…"} & set("".join(lines))


def test_templates_are_listed():
    assert {"default", "unbacked", "dtensor", "mixed"} <= {
        line.split()[0] for line in invoke("templates").stdout.splitlines()
    }
