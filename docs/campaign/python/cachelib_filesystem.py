"""cachelib FileSystemCache: a value that get() returns is one that was set; it may be gone."""
from support import need, run
from cachelib.file import FileSystemCache


def write():
    cache = FileSystemCache("cache", default_timeout=0)
    for i in range(1, 11):
        cache.set("k%d" % (i % 3), "v%d" % i * 100)


def check():
    cache = FileSystemCache("cache", default_timeout=0)
    for k in range(3):
        value = cache.get("k%d" % k)
        need(value is None or value in ["v%d" % i * 100 for i in range(1, 11) if i % 3 == k], "a wrong value for k%d: %.40r" % (k, value))


run(write, check)
