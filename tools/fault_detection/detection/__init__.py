"""Detection runs: planted faults, one at a time, on the programs of the corpus."""
