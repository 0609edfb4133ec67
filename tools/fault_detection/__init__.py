"""Planted compiler faults, and how many of them eqfuzz finds on the shipped seeds (``make quality``)."""
