use std::fmt;
use std::os::raw::c_char;
use std::ptr::NonNull;

use crate::cuts::Powered;
use crate::error::{result_of, text_of, Error, Result};
use crate::ffi::{self, Chip};

/// One flash chip of SLC cells, for whoever writes the layer above it. Pages are numbered through the chip, and erased by the block.
///
/// A page is programmed once after an erase, and those of a block in their order. What a read returns is what was programmed, or it is `Unreadable`: a cut
/// leaves the operation under way undone, done, torn, garbage or about to become so.
pub struct Nand {
    raw: NonNull<ffi::CNand>,
    chip: Chip,
}

unsafe impl Send for Nand {} // as Device

impl Nand {
    pub fn new(chip: Chip) -> Result<Nand> {
        let mut why = [0 as c_char; 1000];
        let raw = unsafe { ffi::flashlab_nand_make(&chip, why.as_mut_ptr(), why.len()) };
        let raw = NonNull::new(raw).ok_or_else(|| Error::Failed(unsafe { text_of(why.as_ptr()) }))?;
        let mut chip = chip;
        unsafe { ffi::flashlab_nand_get_chip(raw.as_ptr(), &mut chip) };
        Ok(Nand { raw, chip })
    }

    pub fn chip(&self) -> Chip {
        self.chip
    }

    fn result(&self, code: i32) -> Result<()> {
        result_of(code, || unsafe { text_of(ffi::flashlab_nand_why(self.raw.as_ptr())) })
    }

    /// Part of a page. An erased page reads 0xff.
    pub fn read(&mut self, page: u32, offset: u32, to: &mut [u8]) -> Result<()> {
        let bytes = u32::try_from(to.len()).map_err(|_| Error::OutOfRange)?;
        self.result(unsafe { ffi::flashlab_nand_read(self.raw.as_ptr(), page, offset, bytes, to.as_mut_ptr().cast()) })
    }

    /// A whole page: it is durable when this returns `Ok`.
    pub fn program(&mut self, page: u32, from: &[u8]) -> Result<()> {
        if from.len() != self.chip.page_bytes as usize {
            return Err(Error::WrongLength);
        }
        self.result(unsafe { ffi::flashlab_nand_program(self.raw.as_ptr(), page, from.as_ptr().cast()) })
    }

    pub fn erase(&mut self, block: u32) -> Result<()> {
        self.result(unsafe { ffi::flashlab_nand_erase(self.raw.as_ptr(), block) })
    }

    pub fn erase_count(&self, block: u32) -> u32 {
        unsafe { ffi::flashlab_nand_erase_count(self.raw.as_ptr(), block) }
    }
}

impl Powered for Nand {
    fn now_ns(&self) -> u64 {
        unsafe { ffi::flashlab_nand_now_ns(self.raw.as_ptr()) }
    }
    fn has_power(&self) -> bool {
        unsafe { ffi::flashlab_nand_has_power(self.raw.as_ptr()) != 0 }
    }
    fn cut_at(&mut self, at_ns: u64, seed: u64) {
        unsafe { ffi::flashlab_nand_cut_at(self.raw.as_ptr(), at_ns, seed) }
    }
    fn recover(&mut self) -> Result<()> {
        self.result(unsafe { ffi::flashlab_nand_recover(self.raw.as_ptr()) })
    }
    fn note_instants(&mut self) {
        unsafe { ffi::flashlab_nand_note_instants(self.raw.as_ptr()) }
    }
    fn instants(&mut self) -> Vec<u64> {
        let mut to = vec![0; unsafe { ffi::flashlab_nand_instants(self.raw.as_ptr(), std::ptr::null_mut(), 0) }];
        unsafe { ffi::flashlab_nand_instants(self.raw.as_ptr(), to.as_mut_ptr(), to.len()) };
        to
    }
    fn pass_until(&mut self, _at_ns: u64) {} // a chip does nothing by itself
}

impl fmt::Debug for Nand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nand").field("chip", &self.chip).field("now_ns", &self.now_ns()).field("has_power", &self.has_power()).finish()
    }
}

impl Drop for Nand {
    fn drop(&mut self) {
        unsafe { ffi::flashlab_nand_free(self.raw.as_ptr()) }
    }
}
