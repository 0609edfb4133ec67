"""The command line. Importing it imports nothing heavy: every verb imports what it needs when it runs."""

import os
import signal


def _before_anything_is_run(*_: object) -> None:
    """Ctrl-C while modules are imported, half of which would be left behind by an exception; ``ended`` has its own."""
    os.write(2, b"eqfuzz: interrupted\n")
    os._exit(130)


def main() -> None:
    """The console script ``eqfuzz``."""
    signal.signal(signal.SIGINT, _before_anything_is_run)
    from eqfuzz.cli.app import app

    app(prog_name="eqfuzz")
