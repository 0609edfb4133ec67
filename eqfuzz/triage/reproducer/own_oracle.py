"""Reproducers of a complaint of the user's own oracle: they contain the oracle and ask it again.

They need eqfuzz, whose observations the oracle reads, and nothing else beside torch.
"""

from __future__ import annotations

from eqfuzz.program.namespace import MODULE_PREFIX
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding


def oracle_setup(name: str, preload: str) -> str:
    """Statements that register the oracle, from the text of the ``preload`` file that defines it."""
    return f"""\
try:
    from eqfuzz.triage.reproducer import oracle_question
except ImportError as error:
    print(f"the oracle {name} needs eqfuzz: {{error}}", file=sys.stderr)
    sys.exit(2)

# The --preload file of the run, which has the oracle
oracle_question.register({name!r}, {_literal(preload)})

# eqfuzz observes the globals of modules whose names begin like this.
__name__ = "{MODULE_PREFIX}reproducer"
sys.modules[__name__] = sys.modules["__main__"]"""


def oracle_question(finding: Finding, config: Config, changes: tuple[tuple[str, str, str], ...]) -> list[str]:
    """Statements that observe the program in eager and compiled, and ask the oracle about both."""
    name = finding.verdict.oracle
    rows = "".join(f"\n        {change!r}," for change in changes)
    arguments = "".join(f", {key}={value!r}" for key, value in config.arguments().items())
    return [
        f'''\
def calls():
    """Each call, and in words and statements what it changes before and within."""
    changes = ({rows}
    )
    return [oracle_question.Call(*arguments, *change) for arguments, change in zip(make_calls(), changes)]''',
        f"""\
complaint = oracle_question.ask(
    {name!r}, make_model, calls(), lambda model: torch.compile(model{arguments}), device={finding.device!r}
)
print("{name}:", complaint)
sys.exit(bool(complaint))""",
    ]


def _literal(text: str) -> str:
    """``text`` as a literal that reads like the file."""
    body = f"\n{text.rstrip()}\n"
    quotes = next((mark for mark in ("'" * 3, '"' * 3) if mark not in body), "")
    return f"r{quotes}{body}{quotes}" if quotes else repr(body)
