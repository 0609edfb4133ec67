"""Verbs called in this process."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from eqfuzz.cli.app import app


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))
