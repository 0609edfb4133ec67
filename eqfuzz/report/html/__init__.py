"""A run as one HTML file that needs nothing else."""
