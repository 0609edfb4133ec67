"""Throughput of a campaign store: ``python -m benchmarks.store --threads 16 --seconds 20 --db postgresql://…``.

Threads lease items and finish them concurrently, as one thread per worker does in ``eqfuzz campaign``, with outcomes as
large as those of the first half hour of a real campaign. Prints the items finished per second, and the size of an item
in the database. Without ``--db`` the store is SQLite in a temporary folder.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Item, ItemOptions
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store

EPOCH = 200
FEATURES = 400
"""New features of an item: 5 kB of JSON, as the first 114 items of a half-hour campaign had; later items have fewer."""
LINE_BYTES = 3200
CELLS = 5
"""Compiled cells of an item: the seed and four variants, one configuration."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--db", default="", help="URL of an empty database")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eqfuzz-store-") as place:
        file = Path(place) / "campaigns.db"
        with Store.open(arguments.db or f"sqlite:///{file}", Path(place) / "store") as store:
            campaign = store.open_campaign(f"benchmark {time.time()}", 0, {}, {}, time.time()).id
            start, cpu_before = time.monotonic(), time.process_time()
            done = _work(store, campaign, arguments.threads, arguments.seconds)
            seconds, cpu = time.monotonic() - start, time.process_time() - cpu_before
            where = store.place
            problems = store.problems(campaign)
        size = sum(path.stat().st_size for path in Path(place).glob("campaigns.db*"))
    table = Table("store", "threads", "items/s", "CPU ms/item", "kB/item", "kB/cell")
    each = f"{size / done / 1000:.1f}", f"{size / done / CELLS / 1000:.1f}"
    row = (f"{done / seconds:.0f}", f"{1000 * cpu / done:.2f}", *(each if not arguments.db else ("", "")))
    table.add_row(where.partition("://")[0], str(arguments.threads), *row)
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    for problem in problems:
        print(problem)
    return int(bool(problems))


def _work(store: Store, campaign: int, threads: int, seconds: float) -> int:
    """The number of items that ``threads`` claimed and finished in ``seconds``."""
    until = time.monotonic() + seconds
    counts = [0] * threads
    planning = threading.Lock()
    retry = StoreRetrier(lambda *_: None, threading.Event())
    epochs = 0
    digest = store.put_program("def program(x):\n    return x\n")

    def plan() -> None:
        nonlocal epochs
        with planning:
            epochs += 1
            options = ItemOptions(seed=1234567890, favoured=("layout", "shapes"), configs=("inductor",))
            arms = {"source": "folder:seeds", "config": "inductor"}
            items = [Item(epochs, n, digest, f"seeds/handwritten/{n}.py", arms, options) for n in range(EPOCH)]
            retry(store.items.add_epoch, campaign, epochs, items)

    def serve(number: int) -> None:
        outcome = _outcome(number)
        while time.monotonic() < until:
            claim = retry(store.items.lease, campaign, f"host/{number}/0")
            if claim is None:
                plan()
                continue
            assert retry(store.items.complete, claim, outcome, [], time.time())
            counts[number] += 1

    plan()
    serving = [threading.Thread(target=serve, args=(number,)) for number in range(threads)]
    for thread in serving:
        thread.start()
    for thread in serving:
        thread.join()
    return sum(counts)


def _outcome(number: int) -> Outcome:
    rng = random.Random(number)
    return Outcome(
        state="done",
        cells=CELLS,
        variants=CELLS - 1,
        verdicts={"agree": CELLS},
        features={v: tuple(rng.getrandbits(32) for _ in range(FEATURES // CELLS)) for v in range(CELLS)},
        lines={"_inductor/lowering.py": f"{rng.getrandbits(4 * LINE_BYTES):x}"},
        rules=dict.fromkeys(range(1, CELLS), ("layout/as_strided", "shapes/flip")),
    )


if __name__ == "__main__":
    sys.exit(main())
