"""The judge measured like an instrument: what it sees of planted faults, and what it says where nothing is wrong."""
