"""littlefs, the real one, on a raw chip whose power is cut at every instant at which a cut makes a difference. With FlashLab's wheel:

    pip install littlefs-python
    python littlefs_on_nand.py           every file that was closed is there after every cut, and the file system can be written
    python littlefs_on_nand.py once      the driver believes a page that it has read once: after a cut it may be right once only; exit code 1
    python littlefs_on_nand.py late      the driver keeps the last page in a buffer, and says that it is programmed: exit code 1
"""

import sys

from flashlab_device import CutFound, FlashError, Nand, PowerLost, Unreadable, every_cut
from littlefs import LittleFS, LittleFSError, lfs

IO, CORRUPT = -5, -84  # what littlefs calls these errors


class OnNand:
    """The four functions that littlefs asks for. They return codes: an exception would not find its way through C."""

    reads = 2  # a page that a cut has left may be right once, and never again: littlefs takes what it has read for what is there

    def __init__(self, nand):
        self.nand = nand

    def read(self, config, block, offset, size):
        data = bytearray()
        while len(data) < size:
            page, at = divmod(block * config.block_size + offset + len(data), self.nand.page_bytes)
            part = min(size - len(data), self.nand.page_bytes - at)
            try:
                data += [self.nand.read(page, at, part) for _ in range(self.reads)][-1]
            except Unreadable:
                data += bytes((page * 31 + at + i * 17) % 251 for i in range(part))  # a read cannot fail here: bits that mean nothing
            except PowerLost:
                data += bytes(part)
        return data

    def prog(self, config, block, offset, data):
        first = (block * config.block_size + offset) // self.nand.page_bytes
        try:
            for i in range(len(data) // self.nand.page_bytes):
                self.nand.program(first + i, bytes(data[i * self.nand.page_bytes:(i + 1) * self.nand.page_bytes]))
        except PowerLost:
            return IO
        except FlashError:
            return CORRUPT
        return 0

    def erase(self, config, block):
        try:
            self.nand.erase(block)
        except PowerLost:
            return IO
        return 0

    def sync(self, config):
        return 0 if self.nand.has_power else IO


class Once(OnNand):
    reads = 1


class Late(OnNand):

    waiting = None

    def prog(self, config, block, offset, data):
        before, self.waiting = self.waiting, (block, offset, bytes(data))
        return super().prog(config, *before) if before else 0

    def erase(self, config, block):
        if self.waiting and self.waiting[0] == block:
            self.waiting = None
        return super().erase(config, block)

    def read(self, config, block, offset, size):
        data = super().read(config, block, offset, size)
        if self.waiting and self.waiting[0] == block:
            for i, byte in enumerate(self.waiting[2], self.waiting[1] - offset):
                if 0 <= i < size:
                    data[i] = byte
        return data


def small_chip():
    return Nand(page_bytes=512, pages_per_block=8, blocks=12)


def file_system(context):
    nand = context.nand
    return LittleFS(context=context, mount=False, block_size=nand.page_bytes * nand.pages_per_block, block_count=nand.blocks, read_size=64,
                    prog_size=nand.page_bytes, cache_size=nand.page_bytes, lookahead_size=16, block_cycles=4)


def write(fs, name, content):
    """By the functions of C: the package's file objects close a file once more, which littlefs asserts against, when a close has failed."""
    file = lfs.file_open(fs.fs, name, "w")
    lfs.file_write(fs.fs, file, content)
    lfs.file_close(fs.fs, file)


def test(context):
    files = [(f"file{i % 3}", bytes([65 + i]) * (60 + 700 * (i % 2))) for i in range(8)]

    def workload(nand, told):
        fs = file_system(context(nand))
        try:
            fs.format()
            fs.mount()
            told.append("format")
            for name, content in files:
                write(fs, name, content)
                told.append(name)
        except LittleFSError as error:
            raise (error if nand.has_power else PowerLost()) from error

    def judge(nand, told):
        if not told:
            return
        fs = file_system(context(nand))
        fs.mount()
        found = {}
        for name in fs.listdir("/"):
            with fs.open(name, "rb") as file:
                found[name] = file.read()
        done = len(told) - 1
        under_way = {**{name: b"" for name, _ in files[done:done + 1]}, **dict(files[:done])}  # a new file is empty until it is closed
        assert found in (dict(files[:done]), dict(files[:done + 1]), under_way), f"after {done} files there are { {n: d[:4] for n, d in found.items()} }"
        write(fs, "one_more", b"still works" * 100)

    return every_cut(workload, judge, make=small_chip)


if __name__ == "__main__":
    try:
        print(test({"once": Once, "late": Late}.get(sys.argv[-1], OnNand)))
    except CutFound as found:
        sys.exit(str(found))
