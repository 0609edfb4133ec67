"""Changed lines of torch: of a diff the lines before the change, of a list all lines."""

from pathlib import Path

import pytest

from eqfuzz.commands.regressions.changed_lines import ALL_LINES, meets, read_changes
from eqfuzz.errors import UsageError

DIFF = """\
diff --git a/torch/_inductor/ir.py b/torch/_inductor/ir.py
index 1..2 100644
--- a/torch/_inductor/ir.py
+++ b/torch/_inductor/ir.py
@@ -10,3 +10,4 @@ class IRNode:
 a
-b
+c
 d
@@ -40,0 +41,2 @@
+e
+f
diff --git a/test/test_x.py b/test/test_x.py
--- a/test/test_x.py
+++ b/test/test_x.py
@@ -1 +1 @@
-a
+b
diff --git a/torch/csrc/x.cpp b/torch/csrc/x.cpp
--- a/torch/csrc/x.cpp
+++ b/torch/csrc/x.cpp
@@ -1,9 +1,9 @@
--- /dev/null
+++ b/torch/_dynamo/new.py
@@ -0,0 +1,2 @@
+a
+b
"""


def lines_of(bits: int) -> list[int]:
    return [line for line in range(bits.bit_length()) if bits >> line & 1]


def changes_of(tmp_path: Path, text: str) -> dict[str, int]:
    file = tmp_path / "changed"
    file.write_text(text)
    return read_changes(file)


def test_a_diff_names_the_lines_before_the_change(tmp_path):
    changes = changes_of(tmp_path, DIFF)
    assert lines_of(changes["_inductor/ir.py"]) == [10, 11, 12, 40, 41]
    assert lines_of(changes["_dynamo/new.py"]) == [1]
    assert set(changes) == {"_inductor/ir.py", "_dynamo/new.py"}


def test_a_list_names_whole_files(tmp_path):
    text = "torch/_inductor/ir.py\n\n  /home/me/pytorch/torch/_dynamo/guards.py\nREADME.md\n"
    assert changes_of(tmp_path, text) == {"_inductor/ir.py": ALL_LINES, "_dynamo/guards.py": ALL_LINES}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"_inductor/ir.py": 1 << 11}, True),
        ({"_inductor/ir.py": 1 << 13}, False),
        ({"_inductor/scheduler.py": 1 << 11}, False),
        ({}, False),
    ],
)
def test_program_meets_a_change_where_it_ran_one_of_its_lines(lines, expected, tmp_path):
    assert meets(lines, changes_of(tmp_path, DIFF)) is expected


def test_program_meets_every_line_of_a_listed_file(tmp_path):
    assert meets({"_inductor/ir.py": 1 << 5000}, changes_of(tmp_path, "torch/_inductor/ir.py"))


@pytest.mark.parametrize("text", ["", "README.md\n", "--- a/x.cpp\n+++ b/x.cpp\n@@ -1 +1 @@\n"])
def test_what_names_no_file_of_torch_is_refused(text, tmp_path):
    with pytest.raises(UsageError, match="is no diff and no list of Python files of torch"):
        changes_of(tmp_path, text)


def test_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"--changed: .*: No such file"):
        read_changes(tmp_path / "none")
