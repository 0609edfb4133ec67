"""Models for text."""
