"""Type checking of expressions, and what is known to be wrong before they run."""
