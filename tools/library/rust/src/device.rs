use std::ffi::CString;
use std::fmt;
use std::os::raw::c_char;
use std::ptr::NonNull;

use crate::cuts::Powered;
use crate::error::{result_of, text_of, Error, Result};
use crate::ffi::{self, Statistics};

pub const SECTOR_BYTES: usize = 512;

/// A drive. Its sectors have 512 bytes. Data written before a `flush()` that returned `Ok` survive every cut.
///
/// After it is dropped, and from two threads at once, it cannot be used:
///
/// ```compile_fail,E0382
/// let mut device = flashlab::Device::small().unwrap();
/// drop(device);
/// device.flush().unwrap();
/// ```
///
/// ```compile_fail,E0277
/// let device = flashlab::Device::small().unwrap();
/// std::thread::scope(|threads| {
///     threads.spawn(|| device.sectors());
/// });
/// ```
pub struct Device {
    raw: NonNull<ffi::CDevice>,
    sectors: u64,
}

// The library has no state beside the object, and no thread.
unsafe impl Send for Device {}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Failed(format!("a zero byte in {text:?}")))
}

impl Device {
    /// A small drive for tests, of 3 MiB, whose write buffer loses what no `flush()` has made durable: the preset tiny by itself has no buffer, and others
    /// have one with capacitors, so that a forgotten flush would not be noticed.
    pub fn small() -> Result<Device> {
        Device::with("tiny", &["ftl.scheme=page_map", "dram.write_buffer_bytes=64K"], 0)
    }

    /// A new, empty drive; `preset` as `flashlab presets` lists them.
    pub fn new(preset: &str) -> Result<Device> {
        Device::with(preset, &[], 0)
    }

    /// The same with settings, KEY=VALUE as --set of `flashlab mkfs`, and a size; 0: the preset's.
    pub fn with(preset: &str, settings: &[&str], bytes: u64) -> Result<Device> {
        let preset = c_text(preset)?;
        let settings = settings.iter().map(|setting| c_text(setting)).collect::<Result<Vec<_>>>()?;
        let pointers: Vec<*const c_char> = settings.iter().map(|setting| setting.as_ptr()).collect();
        let mut why = [0 as c_char; 1000];
        let raw = unsafe { ffi::flashlab_make(preset.as_ptr(), pointers.as_ptr(), pointers.len(), bytes, why.as_mut_ptr(), why.len()) };
        let raw = NonNull::new(raw).ok_or_else(|| Error::Failed(unsafe { text_of(why.as_ptr()) }))?;
        let sectors = unsafe { ffi::flashlab_sectors(raw.as_ptr()) };
        Ok(Device { raw, sectors })
    }

    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    fn result(&self, code: i32) -> Result<()> {
        result_of(code, || unsafe { text_of(ffi::flashlab_why(self.raw.as_ptr())) })
    }

    /// How many sectors the bytes are.
    fn count(&self, bytes: usize) -> Result<u32> {
        if bytes % SECTOR_BYTES != 0 {
            return Err(Error::WrongLength);
        }
        u32::try_from(bytes / SECTOR_BYTES).map_err(|_| Error::OutOfRange)
    }

    /// Fills the slice, of whole sectors.
    pub fn read(&mut self, first_sector: u64, to: &mut [u8]) -> Result<()> {
        let sectors = self.count(to.len())?;
        self.result(unsafe { ffi::flashlab_read(self.raw.as_ptr(), first_sector, sectors, to.as_mut_ptr().cast()) })
    }

    /// The slice has whole sectors.
    pub fn write(&mut self, first_sector: u64, from: &[u8]) -> Result<()> {
        let sectors = self.count(from.len())?;
        self.result(unsafe { ffi::flashlab_write(self.raw.as_ptr(), first_sector, sectors, from.as_ptr().cast()) })
    }

    /// These sectors read zero from now on.
    pub fn trim(&mut self, first_sector: u64, sectors: u64) -> Result<()> {
        self.result(unsafe { ffi::flashlab_trim(self.raw.as_ptr(), first_sector, sectors) })
    }

    pub fn flush(&mut self) -> Result<()> {
        self.result(unsafe { ffi::flashlab_flush(self.raw.as_ptr()) })
    }

    /// Lets simulated time pass; the drive collects garbage meanwhile.
    pub fn wait(&mut self, ns: u64) -> Result<()> {
        self.result(unsafe { ffi::flashlab_wait(self.raw.as_ptr(), ns) })
    }

    pub fn statistics(&self) -> Statistics {
        let mut to = Statistics::default();
        unsafe { ffi::flashlab_get_statistics(self.raw.as_ptr(), &mut to) };
        to
    }

    /// The first thing that the drive's own check finds broken is the error.
    pub fn check(&mut self) -> Result<()> {
        match unsafe { ffi::flashlab_check(self.raw.as_ptr()) } {
            0 => Ok(()),
            _ => Err(Error::Failed(unsafe { text_of(ffi::flashlab_why(self.raw.as_ptr())) })),
        }
    }
}

impl Powered for Device {
    fn now_ns(&self) -> u64 {
        unsafe { ffi::flashlab_now_ns(self.raw.as_ptr()) }
    }
    fn has_power(&self) -> bool {
        unsafe { ffi::flashlab_has_power(self.raw.as_ptr()) != 0 }
    }
    fn cut_at(&mut self, at_ns: u64, seed: u64) {
        unsafe { ffi::flashlab_cut_at(self.raw.as_ptr(), at_ns, seed) }
    }
    fn recover(&mut self) -> Result<()> {
        self.result(unsafe { ffi::flashlab_recover(self.raw.as_ptr()) })
    }
    fn note_instants(&mut self) {
        unsafe { ffi::flashlab_note_instants(self.raw.as_ptr()) }
    }
    fn instants(&mut self) -> Vec<u64> {
        let mut to = vec![0; unsafe { ffi::flashlab_instants(self.raw.as_ptr(), std::ptr::null_mut(), 0) }];
        unsafe { ffi::flashlab_instants(self.raw.as_ptr(), to.as_mut_ptr(), to.len()) };
        to
    }
    fn pass_until(&mut self, at_ns: u64) {
        let _ = self.wait(at_ns.saturating_sub(self.now_ns()));
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("sectors", &self.sectors).field("now_ns", &self.now_ns()).field("has_power", &self.has_power()).finish()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        unsafe { ffi::flashlab_free(self.raw.as_ptr()) }
    }
}
