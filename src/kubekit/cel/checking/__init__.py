"""Type checking of expressions, and the checks of literals before they run."""
