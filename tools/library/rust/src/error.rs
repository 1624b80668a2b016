use std::ffi::CStr;
use std::fmt;
use std::os::raw::{c_char, c_int};

/// Why a call did not do it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The power failed in this call, or before it. `recover()` turns it on.
    PowerLost,
    /// The flash does not give these data back.
    Unreadable,
    /// Beyond the drive, or the chip.
    OutOfRange,
    /// No free block is left on the flash.
    NoSpace,
    /// The drive is worn out.
    ReadOnly,
    /// The page was programmed since its block was erased.
    NotErased,
    /// A later page of the block was programmed already.
    OutOfOrder,
    /// The slice is no whole number of sectors, or not one page.
    WrongLength,
    /// There is no such drive, or the library failed: it says why.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::PowerLost => "the power is lost",
            Error::Unreadable => "the flash does not give these data back",
            Error::OutOfRange => "this lies beyond the flash",
            Error::NoSpace => "no free block is left on the flash",
            Error::ReadOnly => "the drive is worn out",
            Error::NotErased => "the page was programmed since its block was erased",
            Error::OutOfOrder => "a later page of the block was programmed already",
            Error::WrongLength => "the slice is no whole number of sectors, or not one page",
            Error::Failed(why) => why,
        })
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// # Safety
/// `text` ends with a zero byte.
pub(crate) unsafe fn text_of(text: *const c_char) -> String {
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

pub(crate) fn result_of(code: c_int, why: impl FnOnce() -> String) -> Result<()> {
    Err(match code {
        0 => return Ok(()),
        -1 => Error::PowerLost,
        -2 => Error::Unreadable,
        -3 => Error::OutOfRange,
        -4 => Error::NoSpace,
        -5 => Error::ReadOnly,
        -7 => Error::NotErased,
        -8 => Error::OutOfOrder,
        _ => Error::Failed(why()),
    })
}
