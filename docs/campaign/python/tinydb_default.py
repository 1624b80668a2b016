"""tinydb: insert() has returned; the database opens and holds what was inserted."""
from support import need, promise, promised, run
from tinydb import TinyDB


def write():
    db = TinyDB("db.json")
    for i in range(1, 21):
        db.insert({"n": i, "text": "x" * 40})
        promise(i)


def check():
    have = {row["n"] for row in TinyDB("db.json")}
    need(have.issuperset(map(int, promised())), "lost: %s" % (set(map(int, promised())) - have))


run(write, check)
