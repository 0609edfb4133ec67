"""Programs out of nothing: seeds that a generator writes."""
