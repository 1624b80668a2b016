"""One flash chip, for whoever writes the layer above it."""

import ctypes
from typing import Any

from . import _c


class Nand(_c.Powered):
    """A new chip of SLC cells. Pages are numbered through the chip, and erased by the block.

    A page is programmed once after an erase, and those of a block in their order: NotErased, OutOfOrder. What a read returns is what was programmed, or
    it raises Unreadable: a cut leaves the operation under way undone, done, torn, garbage or about to become so. Threads take turns.
    """

    _prefix = "flashlab_nand_"

    def __init__(self, *, page_bytes: int = 2048, pages_per_block: int = 64, blocks: int = 64, read_ns: int = 0, program_ns: int = 0,
                 erase_ns: int = 0) -> None:
        counts = [_c.whole(count, "a count", 32) for count in (page_bytes, pages_per_block, blocks)]
        chip = _c.CChip(*counts, *(_c.whole(ns, "a time") for ns in (read_ns, program_ns, erase_ns)))
        super().__init__(lambda why: _c.library.flashlab_nand_make(chip, why, len(why)))
        self.page_bytes, self.pages_per_block, self.blocks = counts
        self.pages = self.pages_per_block * self.blocks

    def __enter__(self) -> "Nand":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, page: int, offset: int = 0, size: int = -1) -> bytes:
        """Part of a page. An erased page reads 0xff."""
        number = _c.place(page, "page", self.pages - 1)
        start = _c.place(offset, "offset", self.page_bytes)
        count = self.page_bytes - start if size == -1 else _c.place(size, "size", self.page_bytes - start)
        to = ctypes.create_string_buffer(count)
        self._do("read", number, start, count, to)
        return to.raw

    def program(self, page: int, data: Any) -> None:
        """A whole page: it is durable when this returns."""
        number = _c.place(page, "page", self.pages - 1)
        content = data if isinstance(data, bytes) else bytes(memoryview(data))
        if len(content) != self.page_bytes:
            raise ValueError(f"{len(content)} bytes are no page of {self.page_bytes}")
        self._do("program", number, content)

    def erase(self, block: int) -> None:
        self._do("erase", _c.place(block, "block", self.blocks - 1))

    def erase_count(self, block: int) -> int:
        return int(self._ask("erase_count", _c.place(block, "block", self.blocks - 1)))

    def _pass_until(self, at_ns: int) -> None:
        """A chip does nothing by itself."""
