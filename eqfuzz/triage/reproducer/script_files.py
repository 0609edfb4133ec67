"""The files of a reproducer: the script, and beside it the values of a program that are private."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from eqfuzz.program.program import Program
from eqfuzz.triage.reproducer.weights_beside import copy_weights

SCRIPT = "repro.py"
VALUES = "recorded_values.py"
ISSUE, TEST_FUNCTION, UNIT_TEST = "issue.md", "test_fn.py", "unit_test.py"
"""A report, and the two forms of the script beside it."""

READ_VALUES = f'exec(compile(pathlib.Path(__file__).with_name("{VALUES}").read_text(), "{VALUES}", "exec"))'
"""The statement by which a script reads the values beside it."""


@dataclasses.dataclass(frozen=True)
class ReproducerScript:
    """A script's ``text``, and that of the definitions with private ``values`` beside it; empty: it has none."""

    text: str
    values: str = ""

    @classmethod
    def read(cls, folder: Path) -> ReproducerScript:
        """The script in a folder. Raises OSError."""
        values = folder / VALUES
        return cls(
            (folder / SCRIPT).read_text(encoding="utf-8"), values.read_text(encoding="utf-8") if values.exists() else ""
        )

    def write(self, folder: Path) -> None:
        """Write its files. Raises OSError."""
        (folder / SCRIPT).write_text(self.text, encoding="utf-8")
        if self.values:
            (folder / VALUES).write_text(self.values, encoding="utf-8")
        else:
            (folder / VALUES).unlink(missing_ok=True)

    @property
    def with_values(self) -> str:
        """The text with the values in it."""
        return self.text.replace(READ_VALUES, self.values.strip("\n"))


def copy_script(folder: Path, program: Program, target: Path) -> None:
    """Put the script in ``folder`` into ``target``, with the values and weights that it reads. Raises OSError."""
    ReproducerScript.read(folder).write(target)
    copy_weights(program, target)
