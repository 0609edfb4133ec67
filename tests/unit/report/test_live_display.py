"""Live displays on a terminal: whatever is printed meanwhile stays whole, and nothing of the display is left behind."""

import sys
import textwrap

import pytest

from tests.terminal import run_on_terminal

DISPLAY = """
    import sys, time
    from rich.console import Group
    from rich.text import Text
    from eqfuzz.report.live_display import LiveRenderer
    from eqfuzz.report.terminal import make_console

    class Source:
        def display(self):
            return Group(*(Text(f"DISPLAY {"word " * 30}") for _ in range(HEIGHT)))

        def line(self):
            return "DISPLAY"

    console = make_console()
    with LiveRenderer(console, Source()):
        time.sleep(0.4)
        PRINT
        time.sleep(0.4)
    console.print("end")
""".replace('{"word " * 30}', "{'word ' * 30}")

PRINTS = {
    "wrapped": "console.print(Text('long ' * 40), crop=False)",
    "whole": "console.print(Text('long ' * 40), soft_wrap=True)",
    "on stderr": "print('long ' * 40, file=sys.stderr)",
    "nothing": "pass",
}


@pytest.mark.parametrize("height", [1, 3, 40])
@pytest.mark.parametrize("printing", PRINTS)
def test_display_leaves_nothing_behind_and_loses_nothing(printing, height):
    script = textwrap.dedent(DISPLAY).replace("PRINT\n", PRINTS[printing] + "\n").replace("HEIGHT", str(height))
    lines, status = run_on_terminal([sys.executable, "-c", script])
    assert status == 0, lines
    assert not [line for line in lines if "DISPLAY" in line or "word" in line]
    assert lines[-1] == "end"
    assert " ".join(lines[:-1]).split() == ([] if printing == "nothing" else ["long"] * 40)
