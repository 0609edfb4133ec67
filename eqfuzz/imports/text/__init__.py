"""The text of a seed that is translated from a graph: statements, constants, input sets. Imports no torch."""
