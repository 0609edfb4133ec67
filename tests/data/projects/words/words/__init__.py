"""A project whose tests check its model."""
