"""pickledb: save() has returned; the file loads and holds what was set."""
from support import need, promise, promised, run
from pickledb import PickleDB


def write():
    db = PickleDB("db.json")
    for i in range(1, 16):
        db.set("k%d" % i, "v" * 30)
        db.save()
        promise(i)


def check():
    import os
    if not os.path.exists("db.json"):
        need(not promised(), "the file is gone")
        return
    db = PickleDB("db.json")
    if hasattr(db, "load"):
        db.load()
    for i in promised():
        need(db.get("k%s" % i) == "v" * 30, "lost: k%s" % i)


run(write, check)
