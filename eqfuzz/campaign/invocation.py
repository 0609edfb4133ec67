"""Where the campaigns of one call are stored, and how that call runs them; opening a store imports no torch."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.campaign.store.errors import StoreError
from eqfuzz.campaign.store.reader import StoreReader
from eqfuzz.campaign.store.sqlite_file import SqliteFile

if TYPE_CHECKING:
    from eqfuzz.campaign.store.store import Store

STORE_FILE = "campaigns.db"


@dataclasses.dataclass(frozen=True)
class InvocationOptions:
    """Options of one call, which do not change the findings of the campaign."""

    name: str
    out: Path
    """Folder of the campaigns' folders and, without a ``url``, of their store."""
    url: str = ""
    """URL of the store's database."""
    jobs: int = 1
    """Items run at once; 0, with a ``ray_address``: one per CPU (or GPU) of the cluster."""
    executor: str = "local"
    ray_address: str = ""

    @property
    def folder(self) -> Path:
        return self.out / self.name

    @property
    def store_file(self) -> Path:
        """The store's database where there is no ``url``."""
        return (self.out / STORE_FILE).absolute()


def open_store(options: InvocationOptions) -> Store:
    """The store of the campaigns below ``options.out``. Raises StoreError."""
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"--out: {options.out}: {error.strerror}") from None
    from sqlalchemy import URL  # here: it costs more than a listing

    from eqfuzz.campaign.store.store import Store

    url = options.url or URL.create("sqlite", database=str(options.store_file))
    return Store.open(url, options.out / "store")


@contextlib.contextmanager
def open_reader(options: InvocationOptions) -> Iterator[StoreReader]:
    """The same store, only to be read. Raises StoreError."""
    if not options.url:
        with SqliteFile(options.store_file) as file:
            if file.is_current():
                yield StoreReader(file)
                return
    with open_store(options) as store:
        yield store
