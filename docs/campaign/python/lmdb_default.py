"""LMDB with its defaults: a transaction has committed."""
import os
import sys
from support import need, promise, promised, run
import lmdb

options = {"lmdb_nosync": {"sync": False}, "lmdb_writemap_nosync": {"sync": False, "writemap": True}}
chosen = options.get(os.path.basename(sys.argv[0])[:-3], {})


def write():
    prepared = os.path.exists("db")
    env = lmdb.open("db", map_size=1 << 22, **chosen)
    for i in range(1, int(os.environ.get("STORE_TRANSACTIONS", "20")) + 1):
        with env.begin(write=True) as txn:
            txn.put(b"k%04d" % i, b"%d" % i * 200)
            for older in range(1, i, 5) if prepared else ():  # so that a transaction has many pages
                txn.put(b"k%04d" % older, b"%d" % older * 200)
        if chosen.get("sync", True):
            promise(i)
    env.close()


def setup():
    lmdb.open("db", map_size=1 << 22, **chosen).close()


def check():
    env = lmdb.open("db", map_size=1 << 22)
    with env.begin() as txn:
        have = list(txn.cursor())
    for i, (key, value) in enumerate(have, 1):
        need(key == b"k%04d" % i and value == b"%d" % i * 200, "hole or wrong value at %d" % i)
    need(len(have) >= len(promised()), "lost: %d promised, %d there" % (len(promised()), len(have)))


run(write, check, setup)
