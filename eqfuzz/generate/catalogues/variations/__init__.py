"""Further calls of an operator, made of those that PyTorch tests."""
