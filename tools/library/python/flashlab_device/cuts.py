"""A user's code, cut at every instant at which a cut makes a difference."""

from typing import Any, Callable, List, NamedTuple, Optional

from .device import Device
from .errors import PowerLost

Code = Callable[[Any, List[Any]], Any]


class Cuts(NamedTuple):
    """What every_cut() did."""

    instants: int  # that there are
    cuts: int  # that were made


class CutFound(AssertionError):
    """What is left after this cut is wrong. __cause__ is what the judge, or the workload, raised."""

    def __init__(self, at_ns: int, seed: int, what: BaseException) -> None:
        super().__init__(f"cut at {at_ns} ns, seed {seed}: {type(what).__name__}: {what}; one_cut() with these numbers repeats it")
        self.at_ns, self.seed = at_ns, seed


def one_cut(workload: Code, judge: Code, at_ns: int, seed: int = 1, *, make: Callable[[], Any] = Device) -> None:
    """One cut of every_cut()."""
    with make() as device:
        device.cut_at(at_ns, seed)
        told: List[Any] = []
        try:
            try:
                workload(device, told)
                device._pass_until(at_ns)
            except PowerLost:
                pass
            device.recover()
            judge(device, told)
        except Exception as error:
            raise CutFound(at_ns, seed, error) from error


def every_cut(workload: Code, judge: Code, *, make: Callable[[], Any] = Device, seeds: int = 3, at_most: Optional[int] = None) -> Cuts:
    """Runs `workload(device, told)` once without a cut, to learn when a cut makes a difference; then, for each such instant and each of `seeds` seeds, on
    a new drive that is cut there and recovers, and judges what is left by `judge(device, told)`. `told` is a new list each time, for what the workload
    acknowledges. The workload must make the same calls each time, and let PowerLost pass. The judge raises if anything is wrong.

    `make()` makes the drive, or the chip. `at_most`: of more instants than this a part is tried, evenly. Raises CutFound at the first that is wrong.
    """
    if seeds < 1 or (at_most is not None and at_most < 1):
        raise ValueError("no cut would be made")
    with make() as device:
        device.note_instants()
        workload(device, [])
        instants = device.instants()
    step = 1 if at_most is None else -(-len(instants) // at_most)
    chosen = instants[::step]
    for at_ns in chosen:
        for seed in range(1, seeds + 1):
            one_cut(workload, judge, at_ns, seed, make=make)
    return Cuts(len(instants), len(chosen) * seeds)
