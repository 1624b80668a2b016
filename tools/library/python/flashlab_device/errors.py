"""What a call may raise beside ValueError and TypeError."""

from typing import Dict, Type


class FlashError(Exception):
    """The drive, or the chip, did not do it."""


class PowerLost(FlashError):
    """The power failed in this call, or before it. recover() turns it on."""


class Unreadable(FlashError):
    """The flash does not give these data back."""


class OutOfRange(FlashError):
    """Beyond the drive, or the chip."""


class NoSpace(FlashError):
    """No free block is left on the flash."""


class ReadOnly(FlashError):
    """The drive is worn out."""


class Failed(FlashError):
    """The message says why."""


class NotErased(FlashError):
    """The page was programmed since its block was erased."""


class OutOfOrder(FlashError):
    """A later page of the block was programmed already."""


by_code: Dict[int, Type[FlashError]] = {
    -1: PowerLost, -2: Unreadable, -3: OutOfRange, -4: NoSpace, -5: ReadOnly, -6: Failed, -7: NotErased, -8: OutOfOrder,
}
