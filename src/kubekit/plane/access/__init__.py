"""Who may do what: rules, who holds them, and the questions that are asked about it."""
