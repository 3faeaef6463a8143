"""CustomResourceDefinitions as objects of a plane: what they may say, and what follows from it."""
