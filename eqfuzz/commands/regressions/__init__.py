"""Regressions between two releases of torch."""
