//! flashlab.h and flashlab_nand.h, as Rust sees them.
use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub struct CDevice {
    _private: [u8; 0],
}

#[repr(C)]
pub struct CNand {
    _private: [u8; 0],
}

/// struct flashlab_nand_chip.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// A multiple of 512.
    pub page_bytes: u32,
    pub pages_per_block: u32,
    pub blocks: u32,
    /// 0: 25 us.
    pub read_ns: u64,
    /// 0: 200 us.
    pub program_ns: u64,
    /// 0: 1.5 ms.
    pub erase_ns: u64,
}

impl Default for Chip {
    fn default() -> Chip {
        Chip { page_bytes: 2048, pages_per_block: 64, blocks: 64, read_ns: 0, program_ns: 0, erase_ns: 0 }
    }
}

/// struct flashlab_statistics. `power_cuts`, `operations_torn` and `operations_undone` are of the whole life, the others since the last start.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    pub now_ns: u64,
    pub host_read_bytes: u64,
    pub host_write_bytes: u64,
    pub nand_page_reads: u64,
    pub nand_page_programs: u64,
    pub nand_block_erases: u64,
    pub page_bytes: u64,
    pub power_cuts: u64,
    pub operations_torn: u64,
    pub operations_undone: u64,
    pub erase_count_min: u32,
    pub erase_count_max: u32,
    pub erase_count_mean: f64,
    pub waf: f64,
}

extern "C" {
    pub fn flashlab_make(
        preset: *const c_char,
        settings: *const *const c_char,
        count: usize,
        bytes: u64,
        why: *mut c_char,
        why_bytes: usize,
    ) -> *mut CDevice;
    pub fn flashlab_free(device: *mut CDevice);
    pub fn flashlab_sectors(device: *const CDevice) -> u64;
    pub fn flashlab_read(device: *mut CDevice, first: u64, sectors: u32, to: *mut c_void) -> c_int;
    pub fn flashlab_write(device: *mut CDevice, first: u64, sectors: u32, from: *const c_void) -> c_int;
    pub fn flashlab_trim(device: *mut CDevice, first: u64, sectors: u64) -> c_int;
    pub fn flashlab_flush(device: *mut CDevice) -> c_int;
    pub fn flashlab_wait(device: *mut CDevice, ns: u64) -> c_int;
    pub fn flashlab_now_ns(device: *const CDevice) -> u64;
    pub fn flashlab_cut_at(device: *mut CDevice, at_ns: u64, seed: u64);
    pub fn flashlab_has_power(device: *const CDevice) -> c_int;
    pub fn flashlab_recover(device: *mut CDevice) -> c_int;
    pub fn flashlab_note_instants(device: *mut CDevice);
    pub fn flashlab_instants(device: *mut CDevice, to: *mut u64, room: usize) -> usize;
    pub fn flashlab_get_statistics(device: *const CDevice, to: *mut Statistics);
    pub fn flashlab_check(device: *mut CDevice) -> c_int;
    pub fn flashlab_why(device: *const CDevice) -> *const c_char;
    pub fn flashlab_version() -> *const c_char;

    pub fn flashlab_nand_make(chip: *const Chip, why: *mut c_char, why_bytes: usize) -> *mut CNand;
    pub fn flashlab_nand_free(nand: *mut CNand);
    pub fn flashlab_nand_get_chip(nand: *const CNand, to: *mut Chip);
    pub fn flashlab_nand_read(nand: *mut CNand, page: u32, offset: u32, bytes: u32, to: *mut c_void) -> c_int;
    pub fn flashlab_nand_program(nand: *mut CNand, page: u32, from: *const c_void) -> c_int;
    pub fn flashlab_nand_erase(nand: *mut CNand, block: u32) -> c_int;
    pub fn flashlab_nand_erase_count(nand: *const CNand, block: u32) -> u32;
    pub fn flashlab_nand_now_ns(nand: *const CNand) -> u64;
    pub fn flashlab_nand_cut_at(nand: *mut CNand, at_ns: u64, seed: u64);
    pub fn flashlab_nand_has_power(nand: *const CNand) -> c_int;
    pub fn flashlab_nand_recover(nand: *mut CNand) -> c_int;
    pub fn flashlab_nand_note_instants(nand: *mut CNand);
    pub fn flashlab_nand_instants(nand: *mut CNand, to: *mut u64, room: usize) -> usize;
    pub fn flashlab_nand_why(nand: *const CNand) -> *const c_char;
}
