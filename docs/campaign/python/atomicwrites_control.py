"""atomicwrites: syncs file and directory: the old content or the new one, and the new one once it has returned."""
import os
from support import need, promise, promised, run
from atomicwrites import atomic_write


def write():
    for i in range(1, 21):
        with atomic_write("f", overwrite=True) as f:
            f.write("%d;" % i * 500)
        promise(i)


def check():
    text = open("f").read() if os.path.exists("f") else ""
    now = int(text.split(";")[0] or 0)
    need(text == "%d;" % now * 500 if now else text == "", "half a file")
    need(now >= len(promised()), "promised %d, found %d" % (len(promised()), now))


run(write, check)
