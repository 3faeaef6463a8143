"""The SQL statements. `log` explains the tables."""

PAGE = 8192
VERSION = 2  # the user_version in the schema
UNSEALED = 1  # the version before, which had no sealing
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
PRAGMA user_version = 2;
COMMIT;
"""
PRAGMAS: tuple[tuple[str, str | int], ...] = (
    ("locking_mode", "exclusive"),
    ("page_size", PAGE),
    ("journal_mode", "wal"),
    ("synchronous", "full"),
    ("wal_autocheckpoint", 0),
    ("cache_size", -512),
    ("temp_store", "memory"),
    ("secure_delete", "on"),
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
# CROSS JOIN makes SQLite start from the few changes, not from all old rows.
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
# Created on first use, so that a file from before sealing existed needs no special case.
MAKE_SEALING = """
CREATE TABLE IF NOT EXISTS sealing (
    generation INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    wrapped BLOB NOT NULL,
    resources TEXT NOT NULL
);
"""
HAS_SEALING = "SELECT count(*) FROM sqlite_schema WHERE name = 'sealing'"
GENERATIONS = "SELECT generation, name, wrapped, resources FROM sealing ORDER BY generation"
ADD_GENERATION = "INSERT INTO sealing VALUES (?, ?, ?, ?)"
RETIRE = "DELETE FROM sealing WHERE generation < ?"
# Documents are not read: most resources are not sealed.
CANDIDATES = """
SELECT revision, resource IN (SELECT value FROM json_each(?)) FROM log
WHERE revision > ? ORDER BY revision LIMIT ?
"""
DOCUMENT = "SELECT resource, key, revision, document FROM log WHERE revision = ?"
RESEAL = "UPDATE log SET document = ? WHERE revision = ?"
