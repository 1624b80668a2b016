"""joblib.Memory: a cache: what it gives back is what was computed, never half of it."""
from support import need, promise, run
from joblib import Memory


def square(x):
    return ("%d;" % (x * x)) * 500


def write():
    cached = Memory("cache", verbose=0).cache(square)
    for i in range(1, 9):
        cached(i)
        promise(i)


def check():
    cached = Memory("cache", verbose=0).cache(square)
    for i in range(1, 9):
        need(cached(i) == square(i), "wrong result for %d" % i)


run(write, check)
