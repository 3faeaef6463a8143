"""Objects as rows of a table, for clients that print them."""
