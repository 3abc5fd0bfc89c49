"""What a store must not hold: SQL that runs when the store is read or written."""

from __future__ import annotations

import re
import sqlite3

from mfbench.base.untrusted import plain

# A store may come from anywhere. A view without end would hold its reader for ever, and a trigger would write for it.


def foreign_object(db: sqlite3.Connection) -> str | None:
    """Name what SQLite would execute by itself when it uses the tables of a file; None if there is nothing."""
    # Stores have tables and the indices of their keys, and nothing else: no view, trigger or index of an expression, no
    # virtual table, generated column or condition.
    db.execute("PRAGMA trusted_schema = OFF")
    for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master").fetchall():
        # What SQLite reads in any case and with any blanks is allowed in mfbench's form alone.
        is_table = kind == "table" and re.match(r"CREATE TABLE [^(]*\(", str(sql)) is not None
        if not is_table and not (kind == "index" and sql is None):
            return f"the {plain(str(kind)[:20]).lower()} {_shown(name)}"
        condition = re.search(r"\b(CHECK|GENERATED|AS)\b", str(sql), re.IGNORECASE)
        if is_table and condition is not None:
            return f"a condition or formula in the table {_shown(name)}"
        default = re.search(r"\bDEFAULT\s*\(", str(sql), re.IGNORECASE)
        if is_table and default is not None:
            return f"a computed default in the table {_shown(name)}"
    return None


def _shown(name: object) -> str:
    return repr(plain(str(name)[:80]))
