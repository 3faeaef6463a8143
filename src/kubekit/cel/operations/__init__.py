"""The values of expressions: how they are compared, converted and computed with."""
