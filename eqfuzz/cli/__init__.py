"""The command line. Importing it imports nothing heavy: every verb imports what it needs when it runs."""

import os
import signal


def _exit_at_once(*_: object) -> None:
    """Ctrl-C before a run begins: an exception would leave modules half imported. Long runs have their own handler."""
    os.write(2, b"eqfuzz: interrupted\n")
    os._exit(130)


def main() -> None:
    """The console script ``eqfuzz``."""
    signal.signal(signal.SIGINT, _exit_at_once)
    from eqfuzz.cli.app import app

    app(prog_name="eqfuzz")
