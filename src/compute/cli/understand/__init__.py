"""Commands that explain states, limits and rights."""
