"""The command line. Importing it imports nothing heavy: every verb imports what it needs when it runs."""


def main() -> None:
    """The console script ``eqfuzz``."""
    from eqfuzz.cli.app import app

    app(prog_name="eqfuzz")
