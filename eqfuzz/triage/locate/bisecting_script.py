"""Script for the Python whose torch is at fault: ``bisecting_script.py REPRO WAY [PRELOAD]``.

Runs the reproducer repeatedly under torch's bisector: in this process or, where WAY is ``outside``, each time in a new
one. Prints the result as the last line, in JSON: ``backend``, ``subsystem``, ``number`` and ``detail``, or ``{}`` where
no backend is at fault. Needs torch only.
"""

import ast
import contextlib
import io
import json
import runpy
import sys

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config
from torch._inductor import compiler_bisector

NAMES = {"backend": "backend", "subsystem": "subsystem", "number": "bisect_number", "detail": "debug_info"}


def main(script, way, preload=""):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        result = in_subprocesses(script, output) if way == "outside" else in_this_process(script, preload)
    sys.stdout.write(json.dumps({name: result[theirs] for name, theirs in NAMES.items()} if result else {}) + "\n")


def in_this_process(script, preload):
    torch.set_num_threads(1)
    torch._inductor.config.fx_graph_cache = False  # it does not know what the bisector disables
    torch._functorch.config.enable_autograd_cache = False
    if preload:
        runpy.run_path(preload, run_name="eqfuzz_preload")

    def is_right():
        torch._dynamo.reset()
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if end.code not in (0, 1, None):
                raise RuntimeError(f"the reproducer ended with {end.code!r}") from end
            return not end.code
        return True

    result = compiler_bisector.CompilerBisector.do_bisect(is_right)
    return vars(result) if result is not None else None


def in_subprocesses(script, output):
    sys.argv = ["compiler_bisector", "run", sys.executable, script]
    with contextlib.suppress(SystemExit):
        compiler_bisector.command_line_usage()
    for line in output.getvalue().splitlines():
        if "BisectionResult(" in line:
            call = ast.parse(line[line.index("BisectionResult(") :], mode="eval").body
            return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
