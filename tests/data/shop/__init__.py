"""A package of models, as users have them: several modules, relative imports, a registry."""

from .net import Net
