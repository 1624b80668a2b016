"""A drive."""

import ctypes
from typing import Any, Mapping, NamedTuple, Optional

from . import _c

SECTOR_BYTES = 512
_small = {"ftl.scheme": "page_map", "dram.write_buffer_bytes": "64K"}


class Statistics(NamedTuple):
    """power_cuts, operations_torn and operations_undone are of the drive's whole life, the others since the power was last turned on."""

    now_ns: int
    host_read_bytes: int
    host_write_bytes: int
    nand_page_reads: int
    nand_page_programs: int
    nand_block_erases: int
    page_bytes: int
    power_cuts: int
    operations_torn: int
    operations_undone: int
    erase_count_min: int
    erase_count_max: int
    erase_count_mean: float
    waf: float


def _setting(key: str, value: Any) -> bytes:
    word = f"{key}={int(value) if isinstance(value, bool) else value}"
    if "\0" in word:
        raise ValueError(f"a zero byte in the setting {key!r}")
    return word.encode()


class Device(_c.Powered):
    """A new, empty drive. `preset` as `flashlab presets` lists them; `settings` as --set of `flashlab mkfs`; `size` in bytes, 0: the preset's.

    Without a preset it is a small one for tests, of 3 MiB, whose write buffer loses what no flush() has made durable: the preset tiny by itself has no
    buffer, and others have one with capacitors, so that a forgotten flush would not be noticed.
    Sectors have 512 bytes. Data written before a flush() that returned survive every cut. Threads take turns.
    """

    _prefix = "flashlab_"

    def __init__(self, preset: Optional[str] = None, *, settings: Optional[Mapping[str, Any]] = None, size: int = 0) -> None:
        asked = {**({} if preset is not None else _small), **(settings or {})}
        words = [_setting(key, value) for key, value in asked.items()]
        name, size = ("tiny" if preset is None else preset).encode(), _c.whole(size, "size")
        if b"\0" in name:
            raise ValueError("a zero byte in the preset's name")
        list_of_words = (ctypes.c_char_p * len(words))(*words)
        super().__init__(lambda why: _c.library.flashlab_make(name, list_of_words, len(words), size, why, len(why)))
        self.sectors: int = self._ask("sectors")

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Device of {self.sectors} sectors{'' if self._object else ', closed'}>"

    def read(self, first_sector: int, sectors: int = 1) -> bytes:
        first = _c.place(first_sector, "first_sector", self.sectors)
        count = _c.place(sectors, "sectors", min(self.sectors - first, 2**32 - 1))
        to = ctypes.create_string_buffer(count * SECTOR_BYTES)
        self._do("read", first, count, to)
        return to.raw

    def write(self, first_sector: int, data: Any) -> None:
        """`data`: bytes, or what has a buffer, of whole sectors."""
        first = _c.place(first_sector, "first_sector", self.sectors)
        content = data if isinstance(data, bytes) else bytes(memoryview(data))
        if len(content) % SECTOR_BYTES:
            raise ValueError(f"{len(content)} bytes are no whole sectors of {SECTOR_BYTES}")
        count = _c.place(len(content) // SECTOR_BYTES, "sectors", min(self.sectors - first, 2**32 - 1))
        self._do("write", first, count, content)

    def trim(self, first_sector: int, sectors: int) -> None:
        """These sectors read zero from now on."""
        first = _c.place(first_sector, "first_sector", self.sectors)
        self._do("trim", first, _c.place(sectors, "sectors", self.sectors - first))

    def flush(self) -> None:
        self._do("flush")

    def wait(self, ns: int) -> None:
        """Lets simulated time pass; the drive collects garbage meanwhile."""
        self._do("wait", _c.whole(ns, "ns"))

    def statistics(self) -> Statistics:
        to = _c.CStatistics()
        self._ask("get_statistics", to)
        return Statistics(*(getattr(to, name) for name in Statistics._fields))

    def check(self) -> Optional[str]:
        """The first thing that the drive's own check finds broken; None: it is sound."""
        with self._lock:
            return self._why() if self._unlocked("check") else None

    def _pass_until(self, at_ns: int) -> None:
        self.wait(max(0, at_ns - self.now_ns))
