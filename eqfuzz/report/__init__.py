"""Events and findings for people and programs: the console, JSON lines, and pages about runs."""
