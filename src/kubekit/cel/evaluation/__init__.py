"""Checked expressions, compiled into functions: `planning` makes `steps`, and `folds` for loops."""
