"""The columns of the recall table. Light: reports read it without torch."""

JUDGE = "eqfuzz"
COLUMNS = (JUDGE, "assert_close", "same, fp64", "NNSmith", "WhiteFox", "PolyJuice", "TorchFuzz")
"""The judge, then the other tools' oracles (``eqfuzz.oracle.calibration.baseline_oracles``)."""
