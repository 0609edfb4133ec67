"""Seed pools: seeds chosen by what their programs are made of."""
