"""Where the campaigns of one call are stored, and how that call runs them; opening a store imports no torch."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from eqfuzz.campaign.store.store import Store, StoreError

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
    def store_url(self) -> str:
        return self.url or f"sqlite:///{(self.out / STORE_FILE).absolute()}"


def open_store(options: InvocationOptions) -> Store:
    """The store of the campaigns below ``options.out``. Raises StoreError."""
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"--out: {options.out}: {error.strerror}") from None
    return Store.open(options.store_url, options.out / "store")
