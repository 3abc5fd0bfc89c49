"""What a store must not hold: SQL that runs when the store is read or written."""

from __future__ import annotations

import re
import sqlite3

from mfbench.untrusted import plain

# A store may come from anywhere. A view without end would hold its reader for ever, and a trigger would write for it.
_RUNS = ("view", "trigger")


def foreign_object(db: sqlite3.Connection) -> str | None:
    """Name what SQLite would execute by itself when it uses the tables of a file, None if there is nothing of the kind.

    Stores have tables and the indices of their keys, and nothing else: no view, trigger or index of an expression, no
    virtual table, generated column or condition.

    Parameters
    ----------
    db : sqlite3.Connection
        Nothing but the list of what the file holds is read.

    Examples
    --------
    >>> db = sqlite3.connect(":memory:")
    >>> _ = db.execute("CREATE TABLE trials (key TEXT PRIMARY KEY)")
    >>> foreign_object(db)
    >>> _ = db.execute("CREATE VIEW more AS SELECT * FROM trials")
    >>> foreign_object(db)
    "the view 'more'"
    """
    db.execute("PRAGMA trusted_schema = OFF")
    for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master").fetchall():
        shown = repr(plain(str(name)[:80]))
        if kind in _RUNS or (kind == "index" and sql is not None):
            return f"the {kind} {shown}"
        statement = str(sql or "").upper()
        if statement.startswith("CREATE VIRTUAL"):
            return f"the virtual table {shown}"
        if re.search(r"\bCHECK\b", statement):
            return f"a condition of the table {shown}"
    generated = db.execute(
        "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_xinfo(tables.name) AS columns "
        "WHERE tables.type = 'table' AND columns.hidden > 1"
    ).fetchone()
    return None if generated is None else f"the generated column {plain(f'{generated[0]}.{generated[1]}'[:80])!r}"
