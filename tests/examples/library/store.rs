//! A key-value store on a raw drive, and its test: cut at every instant at which a cut makes a difference. In a project of its own, as src/main.rs:
//!
//!     cargo add --path FLASHLAB/tools/library/rust
//!     cargo run                       every cut leaves what was acknowledged
//!     cargo run -- broken             a store that forgets the flush is found out: exit code 1

use flashlab::{every_cut, Device, Error, SECTOR_BYTES};
use std::collections::BTreeMap;

// --- the store ---
const SLOTS: u64 = 16; // sectors, two for each key
const CRC: usize = SECTOR_BYTES - 4;

type Sector = [u8; SECTOR_BYTES];

fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

/// Each key has two slots, of which the newer one that is whole counts: a put goes to the other one. A slot holds version, key, value and checksum.
pub struct Store<'d> {
    device: &'d mut Device,
    flushes: bool,
    newest: BTreeMap<u8, (u32, u64, u32)>, // key: version, slot, value
}

impl<'d> Store<'d> {
    pub fn open(device: &'d mut Device, flushes: bool) -> Result<Self, Error> {
        let mut newest = BTreeMap::new();
        let mut sector: Sector = [0; SECTOR_BYTES];
        for slot in 0..SLOTS {
            device.read(slot, &mut sector)?;
            let word = |at: usize| u32::from_le_bytes([sector[at], sector[at + 1], sector[at + 2], sector[at + 3]]);
            let (version, key, value) = (word(0), sector[4], word(8));
            let is_newer = newest.get(&key).map_or(true, |&(other, _, _)| version > other);
            if version != 0 && word(CRC) == crc32(&sector[..CRC]) && is_newer {
                newest.insert(key, (version, slot, value));
            }
        }
        Ok(Store { device, flushes, newest })
    }

    pub fn get(&self, key: u8) -> Option<u32> {
        self.newest.get(&key).map(|&(_, _, value)| value)
    }

    /// Durable when it returns. Keys below SLOTS / 2.
    pub fn put(&mut self, key: u8, value: u32) -> Result<(), Error> {
        let slot_pair = u64::from(key) * 2;
        let (version, old, _) = self.newest.get(&key).copied().unwrap_or((0, slot_pair + 1, 0));
        let slot = slot_pair + u64::from(old == slot_pair);
        let mut sector: Sector = [0; SECTOR_BYTES];
        sector[..4].copy_from_slice(&(version + 1).to_le_bytes());
        sector[4] = key;
        sector[8..12].copy_from_slice(&value.to_le_bytes());
        let crc = crc32(&sector[..CRC]);
        sector[CRC..].copy_from_slice(&crc.to_le_bytes());
        self.device.write(slot, &sector)?;
        if self.flushes {
            self.device.flush()?;
        }
        self.newest.insert(key, (version + 1, slot, value));
        Ok(())
    }
}

// --- its test ---
const KEYS: u8 = 3;
const PUTS: u32 = 14;

fn after(puts: usize) -> Vec<Option<u32>> {
    let mut values = vec![None; KEYS.into()];
    (0..PUTS).take(puts).for_each(|i| values[(i % u32::from(KEYS)) as usize] = Some(i));
    values
}

fn main() {
    let flushes = std::env::args().nth(1).as_deref() != Some("broken");
    let workload = |device: &mut Device, told: &mut Vec<u32>| -> Result<(), Error> {
        let mut store = Store::open(device, flushes)?;
        for i in 0..PUTS {
            store.put((i % u32::from(KEYS)) as u8, i)?;
            told.push(i);
        }
        Ok(())
    };
    let judge = |device: &mut Device, told: &[u32]| -> Result<(), Error> {
        let store = Store::open(device, true)?;
        let found: Vec<_> = (0..KEYS).map(|key| store.get(key)).collect();
        let next = after(told.len() + 1); // the put under way may be there or not
        assert!(found == after(told.len()) || found == next, "{} puts were acknowledged, and {:?} is left", told.len(), found);
        device.check()
    };
    std::panic::set_hook(Box::new(|_| ())); // the judge's panic is told below
    match every_cut(Device::small, 3, workload, judge) {
        Ok(cuts) => println!("{cuts:?}"),
        Err(found) => {
            eprintln!("{found}");
            std::process::exit(1);
        }
    }
}
