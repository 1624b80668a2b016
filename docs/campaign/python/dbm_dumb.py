"""Python's shelve over dbm.dumb: sync() has returned."""
import dbm.dumb
import shelve
from support import need, promise, promised, run


def write():
    shelf = shelve.Shelf(dbm.dumb.open("shelf"))
    for i in range(1, 11):
        shelf["k%d" % i] = "v" * 100
        shelf.sync()
        promise(i)


def check():
    shelf = shelve.Shelf(dbm.dumb.open("shelf"))
    for i in promised():
        need(shelf.get("k%s" % i) == "v" * 100, "lost: k%s" % i)


run(write, check)
