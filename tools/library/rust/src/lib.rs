//! A simulated SSD in memory, whose power may fail at any nanosecond.
//!
//! ```
//! use flashlab::{Device, Error, Powered};
//!
//! let mut device = Device::small()?;
//! device.write(0, &[7; 512])?;
//! device.flush()?; // from here on every cut leaves it
//! device.cut_at(device.now_ns() + 1000, 7);
//! assert_eq!(device.write(0, &[8; 512]).and_then(|()| device.flush()), Err(Error::PowerLost));
//! device.recover()?;
//! # Ok::<(), Error>(())
//! ```
//!
//! Calls wait: each begins, in simulated time, when the one before has ended. The same calls, instant and seed give the same bytes. [`every_cut`] tests
//! your code at every instant at which a cut makes a difference. [`Nand`] is one flash chip without a drive.
//!
//! A drive belongs to one thread at a time: it can be sent, and what changes it takes `&mut self`.

mod cuts;
mod device;
mod error;
mod ffi;
mod nand;

pub use cuts::{every_cut, every_two_cuts, one_cut, Cut, CutFound, Cuts, Powered};
pub use device::{Device, SECTOR_BYTES};
pub use error::{Error, Result};
pub use ffi::{Chip, Statistics};
pub use nand::Nand;

/// Of the library that is linked.
pub fn version() -> String {
    unsafe { error::text_of(ffi::flashlab_version()) }
}
