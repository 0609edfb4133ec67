"""Models at the sizes of their papers, written as the papers' code is. Nothing in them was made for eqfuzz."""
