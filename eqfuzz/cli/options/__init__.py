"""Options and arguments of the command line, each declared once as an ``Annotated`` alias; how values are read."""
