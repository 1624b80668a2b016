"""What the package flashlab_device promises: contracts first, then misuse, which ends in an exception and never in a crash."""

import copy
import gc
import itertools
import pickle
import sys
import threading

import flashlab_device as fl
from flashlab_device import Device, Nand


def raises(error, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except error as raised:
        assert type(raised) is error, f"{type(raised)}, not {error}"
        return str(raised)
    raise AssertionError(f"no {error.__name__}")


def sector(value):
    return bytes([value]) * fl.SECTOR_BYTES


def test_what_a_flush_returned_from_survives_every_later_cut():
    with Device() as device:
        device.write(3, sector(7))
        device.flush()
        device.cut_at(0)  # has passed: at once
        assert not device.has_power
        for call in (lambda: device.read(3), lambda: device.write(0, sector(1)), device.flush, lambda: device.trim(0, 1), lambda: device.wait(1)):
            raises(fl.PowerLost, call)
        assert device.check() == "the drive has no power"
        device.recover()
        device.recover()  # the power fails, and comes back
        assert device.read(3) == sector(7) and device.check() is None
        assert device.statistics().power_cuts == 2


def test_the_same_calls_instant_and_seed_give_the_same_bytes():
    def left(seed):
        with Device() as device:
            device.cut_at(device.now_ns + 700_000, seed)
            raises(fl.PowerLost, lambda: [(device.write(i % 64, sector(i % 256)), device.flush()) for i in itertools.count()])
            device.recover()
            return device.read(0, 64), device.statistics()

    assert left(5) == left(5)


def test_a_cut_comes_neither_earlier_nor_later_than_it_is_ordered():
    with Device() as device:
        at_ns = device.now_ns + 1_000_000
        device.cut_at(at_ns)
        device.wait(999_999)
        assert device.has_power and device.now_ns == at_ns - 1
        raises(fl.PowerLost, device.wait, 1)
        assert device.now_ns == at_ns


def test_statistics_count_what_was_done():
    with Device(settings={"ftl.scheme": "page_map"}) as device:
        for first in range(0, 512, 8):
            device.write(first, bytearray(8 * 512))
        device.flush()
        device.read(0, 16)
        done = device.statistics()
        assert done.host_write_bytes == 512 * 512 and done.host_read_bytes == 16 * 512, done
        assert done.nand_page_programs >= 64 and done.page_bytes == 4096 and done.waf >= 1, done


def test_every_cut_reaches_each_state_that_a_cut_leaves():
    def workload(device, told):
        for value in (1, 2, 3):
            device.write(0, sector(value))
            device.flush()
            told.append(value)

    seen, judged = set(), []

    def judge(device, told):
        left = device.read(0)[0]
        judged.append(device.now_ns)
        seen.add((len(told), left))
        assert left in (len(told), len(told) + 1)

    tried = fl.every_cut(workload, judge)
    assert tried.cuts == 3 * tried.instants == len(judged), (tried, len(judged))
    assert len(set(judged)) > tried.instants / 2, "the cuts are at different instants"
    assert seen >= {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3)}, seen
    assert fl.every_cut(workload, judge, at_most=4).cuts <= 12


def test_a_cut_that_every_cut_finds_can_be_repeated_alone():
    def workload(device, told):
        device.write(0, sector(1))  # and no flush
        told.append(1)
        device.wait(100)

    def judge(device, told):
        assert not told or device.read(0) == sector(1), "gone"

    try:
        fl.every_cut(workload, judge)
    except fl.CutFound as found:
        assert "gone" in raises(fl.CutFound, fl.one_cut, workload, judge, found.at_ns, found.seed)
        assert isinstance(found.__cause__, AssertionError)
        copy = pickle.loads(pickle.dumps(found))  # as multiprocessing does
        assert (copy.at_ns, copy.seed, copy.again_ns, str(copy)) == (found.at_ns, found.seed, found.again_ns, str(found))
    else:
        raise AssertionError("not found")

    class Outcome(BaseException):  # what pytest.fail() raises
        pass

    def judge_otherwise(device, told):
        if told and device.read(0) != sector(1):
            raise Outcome("gone")

    raises(fl.CutFound, fl.every_cut, workload, judge_otherwise)
    with fl.Device(settings={"dram.protected": True}):
        pass
    raises(ValueError, fl.every_cut, workload, judge, seeds=0)


def read_twice(nand, page):
    states = []
    for _ in range(2):
        try:
            states.append(nand.read(page)[:1])
        except fl.Unreadable:
            states.append(None)
    return tuple(states)


EVERY_STATE = {(b"\5", b"\5"), (b"\xff", b"\xff"), (None, None), (b"\5", None)}


def test_the_instants_of_every_cut_draw_different_ways_of_tearing():
    def workload(nand, told):
        for page in range(16):
            nand.program(page, sector(5))
            told.append(page)

    left = set()
    fl.every_cut(workload, lambda nand, told: left.add(read_twice(nand, min(len(told), 15))), seeds=1,
                 make=lambda: Nand(page_bytes=512, pages_per_block=16, blocks=1))
    assert left == EVERY_STATE, left


def test_a_repair_that_is_not_safe_when_it_is_cut_itself_is_found():
    """Two pages are to be equal. The workload leaves a note of what it writes; the repair forgets the note before, or after, it has finished."""
    def change(nand, value):
        for block in (0, 1):
            nand.erase(block)
            nand.program(block, sector(value))

    def workload(nand, told):
        nand.erase(2)
        nand.program(2, sector(9))
        change(nand, 9)
        nand.erase(2)

    def repair(nand, is_safe):
        try:
            is_noted = [nand.read(2), nand.read(2)] == [sector(9)] * 2  # a page that a cut has left is right once only, perhaps
        except fl.Unreadable:
            is_noted = False
        if is_noted:
            for step in (lambda: change(nand, 9), lambda: nand.erase(2)) if is_safe else (lambda: nand.erase(2), lambda: change(nand, 9)):
                step()

    def judge(nand, told):
        repair(nand, True)
        assert nand.read(0) == nand.read(1)

    def chip():
        nand = Nand(page_bytes=512, pages_per_block=1, blocks=3)
        change(nand, 1)
        return nand

    once = fl.every_cut(workload, judge, make=chip)
    twice = fl.every_cut(workload, judge, make=chip, repair=lambda nand: repair(nand, True))
    assert twice.instants == once.instants and twice.cuts > 2 * once.cuts, (once, twice)

    def unsafe(nand):
        repair(nand, False)

    try:
        fl.every_cut(workload, judge, make=chip, repair=unsafe)
    except fl.CutFound as found:
        assert found.again_ns is not None and found.again_ns > found.at_ns and "and again at" in str(found)
        raises(fl.CutFound, fl.one_cut, workload, judge, found.at_ns, found.seed, again_ns=found.again_ns, make=chip, repair=unsafe)
    else:
        raise AssertionError("not found")
    raises(ValueError, fl.one_cut, workload, judge, 1, again_ns=2)


def test_the_workload_of_a_cut_may_fail_by_itself_and_is_told():
    def workload(device, told):
        device.flush()
        if device.now_ns > 10**9:
            raise KeyError("mine")

    assert fl.every_cut(workload, lambda device, told: None).cuts > 0
    raises(KeyError, fl.every_cut, lambda device, told: {}["mine"], lambda device, told: None)


def test_what_does_not_fit_is_refused():
    with Device() as device:
        raises(ValueError, device.write, 0, b"x")
        raises(ValueError, device.write, 0, bytes(513))
        raises(TypeError, device.write, 0, "x" * 512)
        raises(TypeError, device.write, 0, None)
        raises(TypeError, device.write, 0, 512)
        raises(TypeError, device.read, 0.5)
        raises(TypeError, device.read, "0")
        for far in (-1, device.sectors + 1, 2**63, 2**64, 2**64 + 1):
            raises(fl.OutOfRange, device.read, far)
            raises(fl.OutOfRange, device.read, 0, far)
            raises(fl.OutOfRange, device.trim, 0, far)
            raises(fl.OutOfRange, device.write, far, sector(1))
        raises(fl.OutOfRange, device.read, device.sectors)
        raises(fl.OutOfRange, device.write, device.sectors - 1, bytes(1024))
        raises(fl.OutOfRange, device.wait, 2**64 - 1)
        raises(fl.OutOfRange, device.wait, 2**62)
        for value in (-1, 2**64):
            raises(ValueError, device.wait, value)
            raises(ValueError, device.cut_at, value)
            raises(ValueError, device.cut_at, 0, value)
        assert device.read(0, 0) == b"" and len(device.read(0, device.sectors)) == device.sectors * 512
        device.write(0, b"")
        device.trim(0, 0)
        device.write(1, memoryview(bytearray(range(256)) * 2))
        assert device.read(1) == bytes(range(256)) * 2
        device.write(2, memoryview(bytes(1024))[::2])  # every other byte
        device.cut_at(2**64 - 1)  # never
        device.wait(10**9)
        assert device.has_power


def test_a_drive_that_cannot_be_made_says_why():
    for arguments in ({"preset": "none such"}, {"preset": "ti\0ny"}, {"settings": {"no.such": 1}}, {"settings": {"ftl.scheme": "none"}},
                      {"settings": {"a\0b": 1}}, {"size": 1}, {"size": 2**63}, {"size": 2**64}, {"size": -1}):
        assert len(raises(ValueError, Device, **arguments)) > 10, arguments
    raises(AttributeError, Device, 5)
    raises(TypeError, Device, size="4M")
    gc.collect()  # the halves of these objects


def test_a_closed_drive_is_an_error_for_every_call():
    device = Device()
    device.close()
    device.close()
    for call in (lambda: device.read(0), lambda: device.write(0, sector(1)), lambda: device.trim(0, 1), device.flush, lambda: device.wait(1),
                 lambda: device.cut_at(1), device.recover, device.check, device.statistics, device.instants, device.note_instants,
                 lambda: device.now_ns, lambda: device.has_power):
        assert "closed" in raises(ValueError, call)
    assert "closed" in repr(device)


def test_a_drive_is_neither_copied_nor_pickled():
    with Device() as device:
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            raises(TypeError, call, device)


def work_and_cut(device, number, wrong):
    for i in range(300):
        try:
            device.write(number, sector(i % 256))
            device.read(0, 64)
            device.flush()
            if i % 50 == number:
                device.cut_at(device.now_ns)
                device.recover()
        except fl.PowerLost:
            pass  # by another thread
        except ValueError as error:
            if "closed" not in str(error):
                wrong.append(error)
        except BaseException as error:
            wrong.append(error)


def test_threads_take_turns_on_one_drive_and_one_may_close_it():
    wrong = []
    for _ in range(6):
        device = Device()
        threads = [threading.Thread(target=work_and_cut, args=(device, number, wrong)) for number in range(4)]
        for thread in threads:
            thread.start()
        threads[0].join()
        device.close()
        for thread in threads:
            thread.join()
    assert not wrong, wrong


def test_a_chip_refuses_what_its_data_sheet_forbids():
    with Nand(page_bytes=512, pages_per_block=4, blocks=3) as nand:
        assert nand.read(1) == b"\xff" * 512
        nand.program(1, sector(5))
        raises(fl.NotErased, nand.program, 1, sector(5))
        raises(fl.OutOfOrder, nand.program, 0, sector(5))
        raises(ValueError, nand.program, 2, b"")
        raises(fl.OutOfRange, nand.program, 12, sector(5))
        raises(fl.OutOfRange, nand.erase, 3)
        raises(fl.OutOfRange, nand.read, -1)
        raises(fl.OutOfRange, nand.read, 0, 513)
        raises(fl.OutOfRange, nand.read, 0, 500, 13)
        assert nand.read(1, 500) == b"\5" * 12 and nand.read(1, 512) == b"" and nand.read(1, 0, 3) == b"\5\5\5"
        nand.erase(0)
        nand.program(0, sector(6))
        assert (nand.erase_count(0), nand.erase_count(1)) == (1, 0)
        nand.cut_at(nand.now_ns)
        raises(fl.PowerLost, nand.read, 0)
        nand.recover()
        nand.recover()
        assert nand.read(0) == sector(6)
    raises(ValueError, nand.read, 0)
    for wrong in ({"page_bytes": 100}, {"blocks": 0}, {"blocks": 2**31}, {"blocks": 2**32}, {"pages_per_block": -1}, {"erase_ns": 2**64}, {"erase_ns": 10**11}):
        raises(ValueError, Nand, **wrong)


def test_a_cut_chip_shows_torn_pages_and_pages_that_are_read_once():
    left = set()
    for seed in range(60):
        with Nand(page_bytes=512, pages_per_block=2, blocks=1) as nand:
            nand.cut_at(100_000, seed)
            raises(fl.PowerLost, nand.program, 0, sector(5))
            nand.recover()
            left.add(read_twice(nand, 0))
    assert left == EVERY_STATE, left


for name, test in list(globals().items()):
    if name.startswith("test_"):
        print(name[5:].replace("_", " "), flush=True)
        test()
print(f"flashlab_device {fl.version}, Python {sys.version.split()[0]}")
