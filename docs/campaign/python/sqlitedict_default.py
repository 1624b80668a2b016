"""sqlitedict: commit() has returned."""
from support import need, promise, promised, run
from sqlitedict import SqliteDict


def write():
    with SqliteDict("db") as store:
        for i in range(1, 11):
            store["k%d" % i] = "v" * 100
            store.commit()
            promise(i)


def check():
    with SqliteDict("db") as store:
        for i in promised():
            need(store.get("k%s" % i) == "v" * 100, "lost: k%s" % i)


run(write, check)
