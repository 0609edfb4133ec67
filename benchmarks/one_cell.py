"""One cell in a process of its own: what a fuzzer without a zygote pays. Reads a program as JSON from stdin."""

import json
import sys

from eqfuzz.judge.observe import observe
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program
from eqfuzz.run.configs import DEFAULT_CONFIG


def main() -> None:
    request = json.load(sys.stdin)
    loaded = Loaded(Program.from_json(request["program"]))
    calls = loaded.calls(request["seed"])
    if request["compiled"]:
        with DEFAULT_CONFIG.patched():
            observe(loaded.instance, calls, transform=DEFAULT_CONFIG.compile)
    else:
        observe(loaded.instance, calls)


if __name__ == "__main__":
    main()
