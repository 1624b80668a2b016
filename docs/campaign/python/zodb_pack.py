"""ZODB on FileStorage: pack() has returned. What was committed before is there at each moment of the pack, and after it."""
from support import need, promise, promised, run
import transaction
import ZODB


def setup():
    db = ZODB.DB("data.fs")
    connection = db.open()
    for i in range(1, 11):
        connection.root()["k%d" % i] = "v" * 50
        transaction.commit()
    db.close()


def write():
    db = ZODB.DB("data.fs")
    db.pack()
    promise("packed")
    connection = db.open()
    connection.root()["after"] = "v" * 50
    transaction.commit()
    promise("after")


def check():
    root = ZODB.DB("data.fs").open().root()
    for i in range(1, 11):
        need(root.get("k%s" % i) == "v" * 50, "lost: k%s, committed before the pack" % i)
    need("after" not in promised() or root.get("after") == "v" * 50, "lost: what was committed after the pack")


run(write, check, setup)
