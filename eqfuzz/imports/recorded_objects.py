"""Recorded objects in the text of a seed: how it reads them from the file beside it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping

from eqfuzz.imports.recordings import RecordedName

_UNPICKLER = '''
class RecordedUnpickler(pickle.Unpickler):
    """Reads recorded objects; what they need of the project is in this file."""

    HERE = {CLASSES}

    def find_class(self, module, name):
        return self.HERE.get((module, name)) or super().find_class(module, name)
'''.strip()

_RECORDED = '''
def recorded(name):
    """A recorded object, anew each time."""
    reader = types.SimpleNamespace(__name__="recorded", Unpickler=RecordedUnpickler)
    content = io.BytesIO(weights[name].numpy())
    return torch.load(content, map_location="cpu", weights_only=False, pickle_module=reader)
'''.strip()


@dataclasses.dataclass(frozen=True)
class RecordedObjects:
    """The content of the file with all objects, ``weights``, and the names of their ``classes`` in the text."""

    classes: Mapping[RecordedName, str]
    weights: bytes = dataclasses.field(repr=False)

    @property
    def digest(self) -> str:
        """Sixteen hex digits that name the content."""
        return hashlib.sha256(self.weights).hexdigest()[:16]

    def definitions(self) -> list[str]:
        """The definitions of ``recorded(name)``, which gives an object."""
        pairs = (f"({key.module!r}, {key.name!r}): {name}" for key, name in self.classes.items())
        return [_UNPICKLER.replace("CLASSES", ", ".join(pairs)), _RECORDED]
