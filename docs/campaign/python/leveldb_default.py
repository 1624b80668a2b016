"""LevelDB (plyvel), put() without sync: no promise but that the database opens and what it shows is right, in order."""
from support import need, promise, promised, run
import plyvel


def write(sync=False):
    db = plyvel.DB("db", create_if_missing=True, write_buffer_size=1 << 16)
    for i in range(1, 41):
        db.put(b"k%04d" % i, b"%d" % i * 2000, sync=sync)
        if sync:
            promise(i)
    db.close()


def check():
    db = plyvel.DB("db", create_if_missing=True)
    have = [(key, value) for key, value in db]
    for i, (key, value) in enumerate(have, 1):
        need(key == b"k%04d" % i and value == b"%d" % i * 2000, "hole or wrong value at %d: %s" % (i, key))
    need(len(have) >= len(promised()), "lost: %d promised, %d there" % (len(promised()), len(have)))


if __name__ == "__main__":
    run(write, check)
