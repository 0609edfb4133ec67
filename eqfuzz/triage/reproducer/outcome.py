"""The end of a reproducer of how a program ends: what it raises, or how a process that runs it dies."""

from __future__ import annotations

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.program_parts import compile_line

WATCHED = (VerdictKind.PROCESS_CRASH, VerdictKind.HANG, VerdictKind.OUT_OF_MEMORY, VerdictKind.EXCEPTION_MISMATCH)
"""Kinds whose script runs the program in a child; an exception with one thread may abort the process with two."""

SLOW_COMPILE_SECONDS = 90.0
"""What ends within these, in a fresh process, does not hang: a third may be too little on a slow machine."""

MEMORY_BYTES = 16 << 30
"""The limit on the address space in reproducers of exhausted memory, in bytes."""


def is_watched(finding: Finding) -> bool:
    """Whether its script runs the program in a child."""
    return finding.verdict.kind in WATCHED and not finding.verdict.oracle


def outcome_text() -> str:
    return '''
def outcome(model):
    """What running the program raises, or None."""
    try:
        run(model)
    except Exception as error:
        return error
    return None
'''


def raises_text(config: Config) -> str:
    return f"""{outcome_text()}

def words(error):
    return "returns" if error is None else f"raises {{type(error).__name__}}: {{error}}"


eager = outcome(make_model())
print("eager:   ", words(eager), flush=True)
compiled = outcome({compile_line(config)})
print("compiled:", words(compiled))
sys.exit((eager is None) != (compiled is None))
"""


def time_limit(finding: Finding) -> int:
    """Wall seconds that a script allows the program's process: it also starts torch, maybe on a slower machine."""
    compiling = finding.environment.compile_seconds
    return round(5 + max(1.5 * compiling, min(3 * compiling, SLOW_COMPILE_SECONDS)))


def watched_text(finding: Finding, config: Config) -> str:
    """Crashes, hangs, exhausted memory and exceptions happen in a child of the script."""
    raises = finding.verdict.kind is VerdictKind.EXCEPTION_MISMATCH
    stream = "PIPE" if raises else "DEVNULL"  # a program that floods its output must not flood the script's memory
    seconds = time_limit(finding)
    exhausts = finding.verdict.kind is VerdictKind.OUT_OF_MEMORY
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES}, {MEMORY_BYTES}))\n" if exhausts else ""
    return f'''
{limit}REACHED_THE_END = 42  # 0 may also come from an exit in the middle

if sys.argv[1:] in (["eager"], ["compiled"]):
    run(make_model() if sys.argv[1:] == ["eager"] else {compile_line(config)})
    sys.exit(REACHED_THE_END)


def ends(mode):
    """How a fresh process that runs the program ends, and whether it ends well."""
    command = [sys.executable, __file__, mode]
    try:
        child = subprocess.run(
            command, timeout={seconds}, stdout=subprocess.DEVNULL, stderr=subprocess.{stream}, text=True
        )
    except subprocess.TimeoutExpired:
        return "does not end within {seconds} s", False
    if child.returncode == REACHED_THE_END:
        return "reaches the end", True
    last = (child.stderr or "").strip().splitlines()[-1:]
    if child.returncode < 0:
        return " ".join([f"is killed by signal {{-child.returncode}}", *last]), False
    return " ".join([f"exits early with status {{child.returncode}}", *last]), False


eager, eager_well = ends("eager")
print("eager:   ", eager)
compiled, compiled_well = ends("compiled")
print("compiled:", compiled)
sys.exit({"eager_well != compiled_well" if raises else "eager_well and not compiled_well"})
'''
