"""Reduction: the smallest program, derivation, inputs and configuration with the same finding."""
