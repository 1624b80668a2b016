//! What the crate promises beyond the functions of C: no misuse that compiles ends in anything but an error.
use std::cell::Cell;

use flashlab::{every_cut, every_two_cuts, one_cut, Chip, Device, Error, Nand, Powered};

fn tiny() -> Device {
    Device::small().unwrap()
}

#[test]
fn a_flushed_sector_survives_and_a_lost_power_is_an_error_until_it_is_back() {
    let mut device = tiny();
    device.write(3, &[7; 512]).unwrap();
    device.flush().unwrap();
    device.cut_at(0, 1); // has passed: at once
    assert!(!device.has_power());
    let mut to = [0; 512];
    for _ in 0..2 {
        assert_eq!(device.read(3, &mut to), Err(Error::PowerLost));
        assert_eq!(device.write(3, &to), Err(Error::PowerLost));
        assert_eq!(device.flush(), Err(Error::PowerLost));
        assert_eq!(device.trim(0, 1), Err(Error::PowerLost));
        assert_eq!(device.wait(1), Err(Error::PowerLost));
        assert!(device.check().is_err());
        device.cut_at(5, 1);
    }
    device.recover().unwrap();
    device.recover().unwrap(); // the power fails, and comes back
    device.read(3, &mut to).unwrap();
    assert_eq!(to, [7; 512]);
    assert_eq!(device.statistics().power_cuts, 2);
    device.check().unwrap();
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut device = tiny();
    let sectors = device.sectors();
    let mut to = [0; 1024];
    assert_eq!(device.read(0, &mut to[..100]), Err(Error::WrongLength));
    assert_eq!(device.write(0, &to[..513]), Err(Error::WrongLength));
    device.read(0, &mut []).unwrap();
    device.read(sectors - 1, &mut to[..512]).unwrap();
    assert_eq!(device.read(sectors - 1, &mut to), Err(Error::OutOfRange));
    for far in [sectors, u64::MAX, u64::MAX / 512 + 1] {
        assert_eq!(device.read(far, &mut to), Err(Error::OutOfRange), "{far}");
        assert_eq!(device.write(far, &to), Err(Error::OutOfRange), "{far}");
        assert_eq!(device.trim(far, 2), Err(Error::OutOfRange), "{far}");
        assert_eq!(device.trim(2, far), Err(Error::OutOfRange), "{far}");
    }
    assert_eq!(device.read(0, &mut vec![0; 1 << 26]), Err(Error::OutOfRange));
    assert_eq!(device.wait(u64::MAX), Err(Error::OutOfRange));
    assert_eq!(device.wait(1 << 62), Err(Error::OutOfRange));
    device.cut_at(u64::MAX, 1); // never
    device.write(0, &to).unwrap();
    assert!(device.has_power());
}

#[test]
fn a_drive_that_cannot_be_made_says_why() {
    for (preset, settings, bytes) in [
        ("no such preset", vec![], 0),
        ("ti\0ny", vec![], 0),
        ("tiny", vec!["no.such.key=1"], 0),
        ("tiny", vec!["ftl.scheme"], 0),
        ("tiny", vec!["\0"], 0),
        ("tiny", vec!["ftl.scheme=nothing"], 0),
        ("tiny", vec![], 1),
        ("tiny", vec![], u64::MAX),
    ] {
        match Device::with(preset, &settings, bytes) {
            Err(Error::Failed(why)) => assert!(why.len() > 3, "{why:?}"),
            other => panic!("{preset} {settings:?} {bytes}: {other:?}"),
        }
    }
}

#[test]
fn a_drive_can_be_sent_to_another_thread() {
    let mut device = tiny();
    device.write(0, &[1; 512]).unwrap();
    let mut device = std::thread::spawn(move || device.flush().map(|()| device)).join().unwrap().unwrap();
    device.cut_at(device.now_ns(), 9);
    device.recover().unwrap();
    let mut to = [0; 512];
    device.read(0, &mut to).unwrap();
    assert_eq!(to, [1; 512]);
}

#[test]
fn a_chip_refuses_what_its_data_sheet_forbids() {
    let chip = Chip { pages_per_block: 4, blocks: 3, ..Chip::default() };
    let mut nand = Nand::new(chip).unwrap();
    let (page, mut to) = ([5; 2048], [0; 2048]);
    nand.read(1, 0, &mut to).unwrap();
    assert_eq!(to, [0xff; 2048]);
    nand.program(1, &page).unwrap();
    assert_eq!(nand.program(1, &page), Err(Error::NotErased));
    assert_eq!(nand.program(0, &page), Err(Error::OutOfOrder));
    assert_eq!(nand.program(2, &page[1..]), Err(Error::WrongLength));
    assert_eq!(nand.program(12, &page), Err(Error::OutOfRange));
    assert_eq!(nand.erase(3), Err(Error::OutOfRange));
    assert_eq!(nand.read(1, 2048, &mut to[..1]), Err(Error::OutOfRange));
    assert_eq!(nand.read(1, u32::MAX, &mut to), Err(Error::OutOfRange));
    nand.read(1, 2048, &mut []).unwrap();
    nand.read(1, 40, &mut to[..8]).unwrap();
    assert_eq!(to[..8], [5; 8]);
    nand.erase(0).unwrap();
    assert_eq!((nand.erase_count(0), nand.erase_count(1), nand.erase_count(99)), (1, 0, 0));
    nand.program(0, &page).unwrap();
    for wrong in [Chip { page_bytes: 100, ..chip }, Chip { blocks: 0, ..chip }, Chip { blocks: u32::MAX, ..chip }] {
        assert!(Nand::new(wrong).is_err(), "{wrong:?}");
    }
}

/// A counter that is overwritten in place: between erase and program the power takes both.
#[test]
fn every_cut_finds_the_window_in_which_the_only_copy_is_erased() {
    let make = || Nand::new(Chip { page_bytes: 512, pages_per_block: 1, blocks: 2, ..Chip::default() });
    let counts = |safe: bool| {
        move |nand: &mut Nand, told: &mut Vec<u8>| -> Result<(), Error> {
            for count in 1..4u8 {
                let block = if safe { u32::from(count % 2) } else { 0 };
                nand.erase(block)?;
                nand.program(block, &[count; 512])?;
                told.push(count);
            }
            Ok(())
        }
    };
    let judged = Cell::new(0);
    let judge = |nand: &mut Nand, told: &[u8]| {
        judged.set(judged.get() + 1);
        let mut to = [0; 512];
        let mut read = |page| nand.read(page, 0, &mut to).ok().map(|()| to[0]).filter(|&count| count != 0xff);
        let found = [read(0), read(1)].into_iter().flatten().max();
        if found >= told.last().copied() {
            Ok(())
        } else {
            Err(format!("{told:?} were acknowledged, {found:?} is left"))
        }
    };
    let tried = every_cut(make, 6, counts(true), judge).unwrap();
    assert!(tried.instants >= 3 * 4, "{tried:?}");
    assert_eq!((tried.cuts, judged.get()), (tried.instants * 6, tried.cuts));
    let found = every_cut(make, 6, counts(false), judge).unwrap_err();
    let again = one_cut(make, counts(false), |_: &mut Nand| Ok::<(), Error>(()), judge, found.cut).unwrap_err();
    assert_eq!(found, again);
    assert!(every_cut(make, 0, counts(true), judge).is_err());
}

/// Two pages are to be equal. The workload leaves a note of what it writes; the repair forgets the note before, or after, it has finished.
#[test]
fn a_repair_that_is_not_safe_when_it_is_cut_itself_is_found() {
    fn change(nand: &mut Nand, value: u8) -> Result<(), Error> {
        (0..2).try_for_each(|block| nand.erase(block).and_then(|()| nand.program(block, &[value; 512])))
    }
    fn left(nand: &mut Nand, block: u32) -> u8 {
        let mut to = [0; 512];
        nand.read(block, 0, &mut to).map_or(0, |()| to[0])
    }
    let make = || {
        let mut nand = Nand::new(Chip { page_bytes: 512, pages_per_block: 1, blocks: 3, ..Chip::default() })?;
        change(&mut nand, 1)?;
        Ok(nand)
    };
    let workload = |nand: &mut Nand, _: &mut Vec<()>| -> Result<(), Error> {
        nand.erase(2)?;
        nand.program(2, &[9; 512])?;
        change(nand, 9)?;
        nand.erase(2)
    };
    let repair = |is_safe: bool| {
        move |nand: &mut Nand| -> Result<(), Error> {
            let is_noted = left(nand, 2) == 9 && left(nand, 2) == 9; // a page that a cut has left is right once only, perhaps
            match (is_noted, is_safe) {
                (true, true) => change(nand, 9).and_then(|()| nand.erase(2)),
                (true, false) => nand.erase(2).and_then(|()| change(nand, 9)),
                _ => Ok(()),
            }
        }
    };
    let judge = |nand: &mut Nand, _: &[()]| -> Result<(), Error> {
        repair(true)(nand)?;
        assert_eq!(left(nand, 0), left(nand, 1));
        assert_ne!(left(nand, 0), 0);
        Ok(())
    };
    let once = every_cut(make, 3, workload, judge).unwrap();
    let twice = every_two_cuts(make, 3, workload, repair(true), judge).unwrap();
    assert!(twice.instants == once.instants && twice.cuts > 2 * once.cuts, "{once:?} {twice:?}");
    let found = every_two_cuts(make, 3, workload, repair(false), judge).unwrap_err();
    assert!(found.cut.again_ns > found.cut.at_ns && found.to_string().contains("and again at"), "{found}");
    assert_eq!(one_cut(make, workload, repair(false), judge, found.cut).unwrap_err(), found);
}
