"""What is said to SQLite. `log` says why."""

PAGE = 8192
VERSION = 1  # as the last lines of the schema say
SCHEMA = """
BEGIN;
CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    previous INTEGER NOT NULL,
    change TEXT NOT NULL,
    at INTEGER NOT NULL,
    document BLOB NOT NULL
);
-- Two small indexes instead of one over (resource, key, previous): a revision names its object.
CREATE UNIQUE INDEX first ON log (resource, key) WHERE previous = 0;
CREATE UNIQUE INDEX successor ON log (previous) WHERE previous > 0;
CREATE TABLE compaction (revision INTEGER NOT NULL);
INSERT INTO compaction VALUES (0);
PRAGMA user_version = 1;
COMMIT;
"""
PRAGMAS: tuple[tuple[str, str | int], ...] = (
    ("locking_mode", "exclusive"),
    ("page_size", PAGE),
    ("journal_mode", "wal"),
    ("synchronous", "full"),
    ("wal_autocheckpoint", 0),
    ("cache_size", -16384),
    ("temp_store", "memory"),
)
ROWS_AT_ONCE = 64
INSERTS = tuple(
    " ".join(("INSERT OR IGNORE INTO log VALUES", ",".join(["(?,?,?,?,?,?,?)"] * count)))
    for count in range(ROWS_AT_ONCE + 1)
)
NEWEST = """
SELECT revision, resource, key, change, iif(change = 'DELETED', x'', document) FROM log AS this
WHERE NOT EXISTS (SELECT 1 FROM log WHERE previous = this.revision AND previous > 0)
ORDER BY revision
"""
CHANGES = """
SELECT this.revision, this.key, this.change, this.document, old.revision, old.document
FROM log AS this LEFT JOIN log AS old ON old.revision = this.previous AND old.change <> 'DELETED'
WHERE this.revision > ? AND this.revision <= ? AND this.resource = ? ORDER BY this.revision
"""
# CROSS JOIN: from the few changes to what they replaced, not from all that is old.
REPLACED = """
SELECT old.key, old.revision, old.document
FROM log AS this CROSS JOIN log AS old ON old.revision = this.previous AND old.change <> 'DELETED'
WHERE this.revision > ? AND this.revision <= ? AND this.resource = ? AND old.revision <= ?
"""
COMPACT = """
DELETE FROM log WHERE revision IN (
    SELECT previous FROM log WHERE revision > ?1 AND revision <= ?2
    UNION ALL
    SELECT revision FROM log WHERE revision > ?1 AND revision <= ?2 AND change = 'DELETED'
)
"""
