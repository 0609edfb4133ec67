"""The programs of detection runs: which, in which order, and what their text covers."""
