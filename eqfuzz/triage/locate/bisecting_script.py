"""Run by path, in the Python whose torch is to blame: ``bisecting_script.py REPRO WAY [PRELOAD]``.

Runs the reproducer again and again under torch's own bisector, in this process or, where WAY is ``outside``, each time
in a new one. Prints what that says as the last line, in JSON: ``backend``, ``subsystem``, ``number`` and ``detail``, or
``{}`` where no backend shows it. Needs torch only.
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
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        found = outside(script, told) if way == "outside" else inside(script, preload)
    sys.stdout.write(json.dumps({name: found[theirs] for name, theirs in NAMES.items()} if found else {}) + "\n")


def inside(script, preload):
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

    found = compiler_bisector.CompilerBisector.do_bisect(is_right)
    return vars(found) if found is not None else None


def outside(script, told):
    sys.argv = ["compiler_bisector", "run", sys.executable, script]
    with contextlib.suppress(SystemExit):
        compiler_bisector.command_line_usage()
    for line in told.getvalue().splitlines():
        if "BisectionResult(" in line:
            call = ast.parse(line[line.index("BisectionResult(") :], mode="eval").body
            return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
