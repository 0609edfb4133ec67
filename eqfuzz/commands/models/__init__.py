"""Verbs about a model of the user's: it is recorded and checked."""
