"""What a plane remembers: an append-only log in SQLite, and the present state in memory."""
