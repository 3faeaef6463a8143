"""Commands for operators, and for the command line itself."""
