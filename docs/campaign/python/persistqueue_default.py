"""persist-queue: put() has returned; the queue opens and holds what was put, in order."""
from support import need, promise, promised, run
from persistqueue import Queue


def write():
    queue = Queue("queue")
    for i in range(1, 16):
        queue.put(i)
        promise(i)


def check():
    queue = Queue("queue")
    have = [queue.get(block=False) for _ in range(queue.qsize())]
    need(have == list(range(1, len(have) + 1)), "not what was put: %s" % have)
    need(len(have) >= len(promised()), "lost: %d put, %d there" % (len(promised()), len(have)))


run(write, check)
