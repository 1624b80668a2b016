"""RocksDB (rocksdict): put() has returned; with `sync` its write-ahead log was synced, and the key stays. Without, the order stays."""
import sys
from support import need, promise, promised, run
from rocksdict import Options, Rdict, WriteOptions

synced = "sync" in sys.argv[2:]


def open_it():
    return Rdict("db", options=Options(raw_mode=True))


def write():
    db = open_it()
    options = WriteOptions()
    options.sync = synced
    db.set_write_options(options)
    for i in range(1, 21):
        db[b"k%03d" % i] = b"%03d" % i * 100
        if i == 10:
            db.flush()
        if synced:
            promise(i)


def check():
    db = open_it()
    have = [i for i in range(1, 21) if db.get(b"k%03d" % i) is not None]
    need(all(db[b"k%03d" % i] == b"%03d" % i * 100 for i in have), "wrong value")
    need(have == list(range(1, len(have) + 1)), "a hole: %s" % have)
    need(len(have) >= len(promised()), "lost: %d promised, %d there" % (len(promised()), len(have)))


run(write, check)
