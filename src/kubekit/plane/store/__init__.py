"""The storage of one plane: an append-only change log in SQLite, and the current state in memory.

A write is a `Draft`. Drafts are committed in batches (`batches`) to the log (`log`), and published
to the in-memory state (`state`) once they are on disk. Watchers read recent changes from a ring
buffer (`ring`), older ones from the log. Secrets are encrypted at rest (`sealing`, `keys`).
Start reading at `store.Store`.
"""
