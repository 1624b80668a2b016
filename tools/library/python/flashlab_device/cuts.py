"""A user's code, cut at every instant at which a cut makes a difference."""

from typing import Any, Callable, List, NamedTuple, Optional

from .device import Device
from .errors import PowerLost

Code = Callable[[Any, List[Any]], Any]
Repair = Callable[[Any], Any]


class Cuts(NamedTuple):
    """What every_cut() did."""

    instants: int  # that there are in the workload
    cuts: int  # that were made; two cuts of one run count once


class CutFound(AssertionError):
    """What is left after this cut, or these two, is wrong. __cause__ is what the judge, or the workload, raised."""

    def __init__(self, at_ns: int, seed: int, again_ns: Optional[int], what: BaseException) -> None:
        again = "" if again_ns is None else f" and again at {again_ns} ns"
        super().__init__(f"cut at {at_ns} ns{again}, seed {seed}: {type(what).__name__}: {what}; one_cut() with these numbers repeats it")
        self.at_ns, self.seed, self.again_ns, self._what = at_ns, seed, again_ns, what

    def __reduce__(self) -> Any:  # the cause may not go to another process: its name and words do
        return _found_again, (self.at_ns, self.seed, self.again_ns, type(self._what).__name__, str(self._what))


def _found_again(at_ns: int, seed: int, again_ns: Optional[int], name: str, words: str) -> CutFound:
    return CutFound(at_ns, seed, again_ns, type(name, (Exception,), {})(words))


def _until_it_is_lost(code: Callable[[], Any], device: Any, at_ns: int) -> None:
    try:
        code()
        device._pass_until(at_ns)
    except PowerLost:
        pass
    device.recover()


def _repaired(device: Any, repair: Repair, seed: int, again_ns: Optional[int]) -> List[int]:
    """The instants at which a cut of the repair makes a difference, if it is not cut."""
    if again_ns is not None:
        device.cut_at(again_ns, seed)
        _until_it_is_lost(lambda: repair(device), device, again_ns)
        return []
    begin_ns = device.now_ns
    device.note_instants()
    repair(device)
    return [at_ns for at_ns in device.instants() if at_ns > begin_ns]


def one_cut(workload: Code, judge: Code, at_ns: int, seed: int = 1, *, again_ns: Optional[int] = None, make: Callable[[], Any] = Device,
            repair: Optional[Repair] = None) -> List[int]:
    """One cut of every_cut(), or two. Returns when the repair can be cut."""
    if again_ns is not None and repair is None:
        raise ValueError("the second cut is of the repair, and there is none")
    with make() as device:
        device.cut_at(at_ns, seed)
        told: List[Any] = []
        try:
            _until_it_is_lost(lambda: workload(device, told), device, at_ns)
            instants = [] if repair is None else _repaired(device, repair, seed, again_ns)
            judge(device, told)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # what pytest.fail() raises is no Exception
            raise CutFound(at_ns, seed, again_ns, error) from error
    return instants


def every_cut(workload: Code, judge: Code, *, make: Callable[[], Any] = Device, seeds: int = 3, at_most: Optional[int] = None,
              repair: Optional[Repair] = None) -> Cuts:
    """Runs `workload(device, told)` once without a cut, to learn when a cut makes a difference; then, `seeds` times at each such instant, each time with
    another seed, on a new drive that is cut there and recovers, and judges what is left by `judge(device, told)`. `told` is a new list each time, for what the workload
    acknowledges. The workload must make the same calls each time, and let PowerLost pass. The judge raises if anything is wrong.

    `make()` makes the drive, or the chip. `at_most`: of more instants than this a part is tried, evenly. `repair(device)` is what your code does after a
    cut (mount, replay a log, finish an update): it runs before the judge, and is cut everywhere itself. Raises CutFound at the first that is wrong.
    """
    if seeds < 1 or (at_most is not None and at_most < 1):
        raise ValueError("no cut would be made")
    with make() as device:
        device.note_instants()
        workload(device, [])
        instants = device.instants()
    step = 1 if at_most is None else -(-len(instants) // at_most)
    cuts = 0
    for number, at_ns in enumerate(instants[::step]):
        for seed in range(number * seeds + 1, (number + 1) * seeds + 1):  # each instant has seeds of its own: they draw more ways of tearing
            again = one_cut(workload, judge, at_ns, seed, make=make, repair=repair)
            for again_ns in again:
                one_cut(workload, judge, at_ns, seed, again_ns=again_ns, make=make, repair=repair)
            cuts += 1 + len(again)
    return Cuts(len(instants), cuts)
