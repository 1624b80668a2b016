use std::fmt;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::error::{Error, Result};

/// What a drive and a chip have in common: simulated time, and power that may fail.
pub trait Powered {
    /// Simulated time since the object was made.
    fn now_ns(&self) -> u64;
    fn has_power(&self) -> bool;
    /// The power fails at this instant, or at once if it has passed. The seed draws what becomes of operations that are under way.
    fn cut_at(&mut self, at_ns: u64, seed: u64);
    /// Power on. Without a cut before, the power fails now.
    fn recover(&mut self) -> Result<()>;
    /// From now on `instants()` grows.
    fn note_instants(&mut self);
    /// When the next run of the same calls must be cut, so that no cut is left out.
    fn instants(&mut self) -> Vec<u64>;
    /// Nothing is asked of it until then.
    fn pass_until(&mut self, at_ns: u64);
}

/// What `every_cut()` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    pub instants: usize,
    pub cuts: usize,
}

/// What is left after this cut is wrong; or, without a cut, the workload fails. `one_cut()` with these numbers repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutFound {
    pub at_ns: Option<u64>,
    pub seed: u64,
    pub what: String,
}

impl fmt::Display for CutFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at_ns {
            Some(at) => write!(f, "cut at {} ns, seed {}: {}", at, self.seed, self.what),
            None => write!(f, "without a cut: {}", self.what),
        }
    }
}

impl std::error::Error for CutFound {}

/// What a panic says counts as an error, so that a judge may use `assert!`.
fn tried<E: fmt::Display>(work: impl FnOnce() -> std::result::Result<(), E>) -> std::result::Result<(), String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).into(),
            (_, Some(text)) => text.clone(),
            _ => "a panic".into(),
        }),
    }
}

/// One cut of `every_cut()`.
pub fn one_cut<D: Powered, T, E: fmt::Display, J: fmt::Display>(
    make: impl Fn() -> Result<D>,
    workload: impl Fn(&mut D, &mut Vec<T>) -> std::result::Result<(), E>,
    judge: impl Fn(&mut D, &[T]) -> std::result::Result<(), J>,
    at_ns: u64,
    seed: u64,
) -> std::result::Result<(), CutFound> {
    let cut = || -> std::result::Result<(), String> {
        let mut device = make().map_err(|error: Error| error.to_string())?;
        device.cut_at(at_ns, seed);
        let mut told = Vec::new();
        let done = tried(|| workload(&mut device, &mut told));
        if device.has_power() {
            done?;
            device.pass_until(at_ns);
        }
        device.recover().map_err(|error| error.to_string())?;
        tried(|| judge(&mut device, &told))
    };
    cut().map_err(|what| CutFound { at_ns: Some(at_ns), seed, what })
}

/// Runs `workload(device, told)` once without a cut, to learn when a cut makes a difference; then, for each such instant and each of `seeds` seeds, on a new
/// drive that is cut there and recovers, and judges what is left by `judge(device, told)`. `told` is a new vector each time, for what the workload
/// acknowledges. The workload must make the same calls each time, and return when the power is lost.
pub fn every_cut<D: Powered, T, E: fmt::Display, J: fmt::Display>(
    make: impl Fn() -> Result<D>,
    seeds: u64,
    workload: impl Fn(&mut D, &mut Vec<T>) -> std::result::Result<(), E>,
    judge: impl Fn(&mut D, &[T]) -> std::result::Result<(), J>,
) -> std::result::Result<Cuts, CutFound> {
    let whole = |what: String| CutFound { at_ns: None, seed: 0, what };
    if seeds == 0 {
        return Err(whole("no seed, no cut".into()));
    }
    let mut device = make().map_err(|error| whole(error.to_string()))?;
    device.note_instants();
    tried(|| workload(&mut device, &mut Vec::new())).map_err(whole)?;
    let instants = device.instants();
    for &at_ns in &instants {
        for seed in 1..=seeds {
            one_cut(&make, &workload, &judge, at_ns, seed)?;
        }
    }
    Ok(Cuts { instants: instants.len(), cuts: instants.len() * seeds as usize })
}
