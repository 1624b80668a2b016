"""diskcache: a cache over SQLite and files: what it gives back is what was set; set() has returned."""
from support import need, promise, promised, run
from diskcache import Cache


def write():
    with Cache("cache") as cache:
        for i in range(1, 9):
            cache["k%d" % i] = b"%d" % i * 40000
            promise(i)


def check():
    with Cache("cache") as cache:
        for i in promised():
            value = cache.get("k%s" % i)
            need(value is None or value == i.encode() * 40000, "wrong value of k%s: %d bytes" % (i, len(value or b"")))
        lost = [i for i in promised() if cache.get("k%s" % i) is None]
        need(not lost, "lost: %s" % lost)


run(write, check)
