"""Layers of the models for text."""

from . import norm as norms
from .attention import *
