"""Generators of seeds: random programs, and programs written by language models."""
