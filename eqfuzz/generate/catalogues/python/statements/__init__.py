"""Functions of a few statements each, for what no single expression of Python shows.

The source of each becomes a part of seed programs. ``n`` is a whole number that may be symbolic, ``x`` a tensor.
"""
