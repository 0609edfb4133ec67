"""The glossary check reports ruled-out words in prose and in names, with their lines and replacements."""

import pytest

from tools.glossary import GLOSSARY, WordChecker, checked_files, main, read_words

EXAMPLE = """# Glossary

## Words that are not used

| not | but |
|---|---|
| wizard, wizards | expert |
| walks off | exits |

## Names that are not used

| not | but |
|---|---|
| wizard, thing | the noun |
"""


@pytest.fixture
def problems(tmp_path):
    """Check a text as a file with a suffix; the problems as sorted pairs of line and word."""

    def check(text, suffix=".py"):
        file = tmp_path / f"checked{suffix}"
        file.write_text(text)
        return sorted((line, word) for line, word, _ in WordChecker(EXAMPLE).problems(file))

    return check


def test_table_is_read_up_to_the_next_heading():
    words = {"wizard": "expert", "wizards": "expert", "walks off": "exits"}
    assert read_words("Words that are not used", EXAMPLE) == words
    with pytest.raises(ValueError, match="no heading 'Missing'"):
        read_words("Missing", EXAMPLE)


def test_shipped_glossary_has_both_tables():
    WordChecker(GLOSSARY.read_text(encoding="utf-8"))


def test_words_in_docstrings_comments_and_names_are_reported(problems):
    text = '"""A Wizard\nwalks\noff."""\nis_wizard = 1  # wizards\n'
    assert problems(text) == [(1, "wizard"), (2, "walks off"), (4, "wizard"), (4, "wizards")]


def test_words_inside_other_words_are_not_reported(problems):
    assert problems("# wizardry, kwizard\n") == []


def test_variables_parameters_and_functions_are_checked(problems):
    text = "thing = 1\ndef _thing(thing):\n    for thing in ():\n        other(thing)\n"
    assert problems(text) == [(1, "thing"), (2, "_thing"), (2, "thing"), (3, "thing")]


def test_fields_attributes_and_keywords_are_not_checked(problems):
    assert problems("class A:\n    thing: int = 1\na.thing = f(thing=2)\n") == []


def test_names_are_not_checked_in_markdown(problems):
    assert problems("thing = 1, a wizard\n", ".md") == [(1, "wizard")]


def test_data_caches_and_other_suffixes_are_left_out(tmp_path):
    for name in ("a.py", "b.md", "c.toml", "__pycache__/d.py", "tools/fault_detection/real/e.py", "tools/f.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    names = [file.relative_to(tmp_path).as_posix() for file in checked_files([tmp_path], tmp_path)]
    assert names == ["a.py", "b.md", "tools/f.py"]


def test_exit_code_is_one_with_problems(tmp_path, capsys):
    word = next(iter(read_words("Words that are not used", GLOSSARY.read_text(encoding="utf-8"))))
    (tmp_path / "clean.md").write_text("Nothing.\n")
    (tmp_path / "unclean.md").write_text(f"One line.\n{word}\n")
    assert main([str(tmp_path / "clean.md")], tmp_path) == 0
    assert main([str(tmp_path)], tmp_path) == 1
    assert capsys.readouterr().out.startswith(f"unclean.md:2: {word!r}: ")


def test_missing_path_is_bad_usage(tmp_path, capsys):
    assert main([str(tmp_path / "missing")], tmp_path) == 2
    assert capsys.readouterr().err == f"{tmp_path}/missing: no such file or folder\n"
