"""Events and findings for people and programs: the console and JSON lines."""
