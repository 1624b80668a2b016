"""ZODB on FileStorage: a transaction has committed."""
from support import need, promise, promised, run
import transaction
import ZODB


def write():
    connection = ZODB.DB("data.fs").open()
    for i in range(1, 11):
        connection.root()["k%d" % i] = "v" * 50
        transaction.commit()
        promise(i)


def check():
    root = ZODB.DB("data.fs").open().root()
    for i in promised():
        need(root.get("k%s" % i) == "v" * 50, "lost: k%s" % i)


run(write, check)
