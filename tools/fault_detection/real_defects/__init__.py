"""Defects from PyTorch's tracker, and how many of them eqfuzz finds (``make quality-real``)."""
