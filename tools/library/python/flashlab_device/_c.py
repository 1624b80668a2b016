"""The functions of flashlab.h and flashlab_nand.h, in the shared library that lies beside this file.

What C does not check is checked here: whole numbers that fit, objects that are closed, and two threads in one object.
"""

import ctypes
import operator
import os
import threading
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Dict, List, Optional, Tuple

from .errors import Failed, OutOfRange, by_code


class CStatistics(Structure):
    _fields_ = [
        ("now_ns", c_uint64), ("host_read_bytes", c_uint64), ("host_write_bytes", c_uint64), ("nand_page_reads", c_uint64),
        ("nand_page_programs", c_uint64), ("nand_block_erases", c_uint64), ("page_bytes", c_uint64), ("power_cuts", c_uint64),
        ("operations_torn", c_uint64), ("operations_undone", c_uint64), ("erase_count_min", c_uint32), ("erase_count_max", c_uint32),
        ("erase_count_mean", c_double), ("waf", c_double)]


class CChip(Structure):
    _fields_ = [("page_bytes", c_uint32), ("pages_per_block", c_uint32), ("blocks", c_uint32),
                ("read_ns", c_uint64), ("program_ns", c_uint64), ("erase_ns", c_uint64)]


_times = POINTER(c_uint64)
_functions: Dict[str, Tuple[Any, Optional[List[Any]]]] = {  # name: (result, what follows the object)
    "flashlab_version": (c_char_p, None),
    "flashlab_make": (c_void_p, [POINTER(c_char_p), c_size_t, c_uint64, c_void_p, c_size_t]),
    "flashlab_free": (None, []),
    "flashlab_sectors": (c_uint64, []),
    "flashlab_read": (c_int, [c_uint64, c_uint32, c_void_p]),
    "flashlab_write": (c_int, [c_uint64, c_uint32, c_void_p]),
    "flashlab_trim": (c_int, [c_uint64, c_uint64]),
    "flashlab_flush": (c_int, []),
    "flashlab_wait": (c_int, [c_uint64]),
    "flashlab_get_statistics": (None, [POINTER(CStatistics)]),
    "flashlab_check": (c_int, []),
    "flashlab_nand_make": (c_void_p, [c_void_p, c_size_t]),
    "flashlab_nand_free": (None, []),
    "flashlab_nand_get_chip": (None, [POINTER(CChip)]),
    "flashlab_nand_read": (c_int, [c_uint32, c_uint32, c_uint32, c_void_p]),
    "flashlab_nand_program": (c_int, [c_uint32, c_void_p]),
    "flashlab_nand_erase": (c_int, [c_uint32]),
    "flashlab_nand_erase_count": (c_uint32, [c_uint32]),
}
for _prefix in ("flashlab_", "flashlab_nand_"):
    _functions.update({
        _prefix + "now_ns": (c_uint64, []), _prefix + "cut_at": (None, [c_uint64, c_uint64]), _prefix + "has_power": (c_int, []),
        _prefix + "recover": (c_int, []), _prefix + "note_instants": (None, []), _prefix + "instants": (c_size_t, [_times, c_size_t]),
        _prefix + "why": (c_char_p, [])})
_first = {"flashlab_make": c_char_p, "flashlab_nand_make": POINTER(CChip)}

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libflashlab.so"))
for _name, (_result, _arguments) in _functions.items():
    _function = getattr(library, _name)
    _function.restype = _result
    _function.argtypes = [] if _arguments is None else [_first.get(_name, c_void_p), *_arguments]

version: str = library.flashlab_version().decode()


def whole(value: Any, what: str, bits: int = 64, error: Callable[[str], Exception] = ValueError) -> int:
    """ctypes would cut off what does not fit."""
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise error(f"{what} is {number}, which is not between 0 and {(1 << bits) - 1}")
    return number


def place(value: Any, what: str, below: int) -> int:
    number = operator.index(value)
    if not 0 <= number <= below:
        raise OutOfRange(f"{what} is {number}, which is not between 0 and {below}")
    return number


class Powered:
    """What a drive and a chip have in common: an object of C, simulated time, and power that may fail. Threads take turns."""

    _prefix = ""

    def __init__(self, make: "Callable[[ctypes.Array[ctypes.c_char]], Optional[int]]") -> None:
        why = ctypes.create_string_buffer(1000)
        self._lock = threading.Lock()
        self._object = make(why)
        if not self._object:
            raise ValueError(why.value.decode(errors="replace"))

    def _ask(self, name: str, *arguments: Any) -> Any:
        with self._lock:
            return self._unlocked(name, *arguments)

    def _unlocked(self, name: str, *arguments: Any) -> Any:
        if not getattr(self, "_object", None):
            raise ValueError(f"this {type(self).__name__} is closed")
        return getattr(library, self._prefix + name)(self._object, *arguments)

    def _why(self) -> str:
        why: bytes = self._unlocked("why")
        return why.decode(errors="replace")

    def _do(self, name: str, *arguments: Any) -> None:
        with self._lock:
            code = self._unlocked(name, *arguments)
            if code == 0:
                return
            error = by_code.get(code, Failed)
            raise error(self._why() if error is Failed else (error.__doc__ or "").split(".")[0])

    @property
    def now_ns(self) -> int:
        """Simulated time since the object was made, in nanoseconds."""
        return int(self._ask("now_ns"))

    @property
    def has_power(self) -> bool:
        return bool(self._ask("has_power"))

    def cut_at(self, at_ns: int, seed: int = 1) -> None:
        """The power fails at this instant, or at once if it has passed. The seed draws what becomes of operations that are under way."""
        self._ask("cut_at", whole(at_ns, "at_ns"), whole(seed, "seed"))

    def recover(self) -> None:
        """Power on. Without a cut before, the power fails now."""
        self._do("recover")

    def note_instants(self) -> None:
        """From now on instants() grows."""
        self._ask("note_instants")

    def instants(self) -> List[int]:
        """When the next run of the same calls must be cut, so that no cut is left out."""
        with self._lock:
            room = self._unlocked("instants", None, 0)
            to = (c_uint64 * room)()
            self._unlocked("instants", to, room)
            return list(to)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled")

    def close(self) -> None:
        """Gives the memory back. Closing twice does no harm."""
        if getattr(self, "_lock", None) is None:
            return  # it was never made
        with self._lock:
            if self._object:
                getattr(library, self._prefix + "free")(self._object)
            self._object = None

    def __del__(self) -> None:
        self.close()
