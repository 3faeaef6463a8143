"""From text to a syntax tree, and back."""
