"""Service accounts and their tokens, and reviews of tokens and users."""
