"""SQLite: COMMIT has returned. The journal mode and `synchronous` are the arguments behind the role."""
import os
import sqlite3
import sys
from support import need, promise, promised, run

journal, synchronous = sys.argv[2:4]


def connect():
    db = sqlite3.connect("db", isolation_level=None)
    db.execute("PRAGMA journal_mode=%s" % journal)
    db.execute("PRAGMA synchronous=%s" % synchronous)
    db.execute("PRAGMA cache_size=8")  # so that pages are written before the commit, too
    return db


def write():
    db = connect()
    db.execute("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, v BLOB)")
    for i in range(1, int(os.environ.get("STORE_TRANSACTIONS", "20")) + 1):
        db.execute("BEGIN")
        for part in range(4):
            db.execute("INSERT INTO t VALUES(?, ?)", (i * 4 + part, b"x" * 3000))
        if i > 10:
            db.execute("DELETE FROM t WHERE n / 4 = ?", (i - 10,))
        db.execute("COMMIT")
        promise(i)


def check():
    db = sqlite3.connect("db", isolation_level=None)
    need(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity_check")
    if not db.execute("SELECT 1 FROM sqlite_master").fetchall():
        need(not promised(), "the table is gone")
        return
    have = {}
    for n, v in db.execute("SELECT n, v FROM t"):
        need(v == b"x" * 3000, "wrong value")
        have[n // 4] = have.get(n // 4, 0) + 1
    need(all(parts == 4 for parts in have.values()), "half a transaction: %s" % have)
    if len(sys.argv) < 5:
        need(max(have, default=0) >= len(promised()), "promised %d, found %s" % (len(promised()), max(have, default=0)))


run(write, check)
