"""Documents checked, completed and pruned by their schema."""
