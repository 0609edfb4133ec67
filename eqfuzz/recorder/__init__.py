"""Records models and their calls in a process of the user's. Imports nothing but the standard library and torch."""
