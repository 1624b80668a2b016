"""A simulated SSD in memory, whose power may fail at any nanosecond.

    from flashlab_device import Device, every_cut

    with Device() as device:
        device.write(0, b"x" * 512)
        device.flush()                              # from here on every cut leaves it
        device.cut_at(device.now_ns + 1000, seed=7)
        ...                                         # the call under way raises PowerLost
        device.recover()

    every_cut(workload, judge)                      # your code, cut at every instant at which a cut makes a difference

Calls wait: each begins, in simulated time, when the one before has ended. The same calls, instant and seed give the same bytes.
Nand is one flash chip without a drive, for whoever writes the layer above it.
"""

from ._c import version
from .cuts import CutFound, Cuts, every_cut, one_cut
from .device import SECTOR_BYTES, Device, Statistics
from .errors import Failed, FlashError, NoSpace, NotErased, OutOfOrder, OutOfRange, PowerLost, ReadOnly, Unreadable
from .nand import Nand

__all__ = [
    "SECTOR_BYTES", "Device", "Statistics", "Nand", "every_cut", "one_cut", "Cuts", "CutFound", "version",
    "FlashError", "PowerLost", "Unreadable", "OutOfRange", "NoSpace", "ReadOnly", "Failed", "NotErased", "OutOfOrder",
]
