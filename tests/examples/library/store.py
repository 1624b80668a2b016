"""A key-value store on a raw drive, and its test: cut at every instant at which a cut makes a difference. With FlashLab's wheel installed:

    python store.py                 every cut leaves what was acknowledged
    python store.py broken          a store that forgets the flush is found out: exit code 1
"""

import struct
import sys
import zlib

from flashlab_device import CutFound, Device, every_cut

# --- the store ---
SECTOR, AREA = 512, 8  # bytes; sectors of an area: a head and records


def seal(generation, body):
    content = struct.pack("<IH", generation, len(body)) + body
    return (struct.pack("<I", zlib.crc32(content)) + content).ljust(SECTOR, b"\0")


def unseal(sector):
    """The generation and the body; 0 and nothing where no record is."""
    generation, length = struct.unpack_from("<IH", sector, 4)
    if length > SECTOR - 10 or zlib.crc32(sector[4:10 + length]) != struct.unpack_from("<I", sector)[0]:
        return 0, b""
    return generation, sector[10:10 + length]


class Store:
    """A log in one of two areas. A full log is copied, without what was overwritten, to the other area, whose head makes it count. A record is of the
    head's generation, so that older ones in the same place end the log."""

    def __init__(self, device):
        self.device, self.values = device, {}
        heads = [unseal(device.read(area * AREA))[0] for area in (0, 1)]
        self.area, self.generation, self.used = heads.index(max(heads)), max(heads), 1
        while self.used < AREA:
            generation, body = unseal(device.read(self.area * AREA + self.used))
            if generation != self.generation or not body:
                break
            key, _, value = body.partition(b"=")
            self.values[key] = value
            self.used += 1
        if self.generation == 0:
            self._copy()

    def get(self, key):
        return self.values.get(key)

    def put(self, key, value):
        """Durable when it returns."""
        if self.used == AREA:
            self._copy()
        if self.used == AREA:
            raise OverflowError("the store is full")
        self.device.write(self.area * AREA + self.used, seal(self.generation, key + b"=" + value))
        self.device.flush()
        self.used += 1
        self.values[key] = value

    def _copy(self):
        area, generation = 1 - self.area, self.generation + 1
        for at, (key, value) in enumerate(self.values.items(), 1):
            self.device.write(area * AREA + at, seal(generation, key + b"=" + value))
        self.device.flush()  # the records before the head
        self.device.write(area * AREA, seal(generation, b""))
        self.device.flush()
        self.area, self.generation, self.used = area, generation, len(self.values) + 1


# --- its test ---
PUTS = [(b"key%d" % (i % 3), b"value%d" % i) for i in range(14)]


class NeverFlushed(Store):
    """Acknowledges what is in the drive's buffer only."""

    def put(self, key, value):
        flush, self.device.flush = self.device.flush, lambda: None
        try:
            super().put(key, value)
        finally:
            self.device.flush = flush


def test(store):
    def workload(device, told):
        opened = store(device)
        for key, value in PUTS:
            opened.put(key, value)
            told.append(key)

    def judge(device, told):
        found = store(device).values
        with_next = dict(PUTS[:len(told) + 1])  # the one under way may be there or not
        assert found in (dict(PUTS[:len(told)]), with_next), f"{len(told)} puts were acknowledged, and {found} is left"
        assert device.check() is None, device.check()

    return every_cut(workload, judge, repair=store)  # opening it may write, and is cut, too


if __name__ == "__main__":
    try:
        print(test(NeverFlushed if sys.argv[1:] == ["broken"] else Store))
    except CutFound as found:
        sys.exit(str(found))
