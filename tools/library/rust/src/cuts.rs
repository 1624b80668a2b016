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
    /// That there are in the workload.
    pub instants: usize,
    /// That were made; two cuts of one run count once.
    pub cuts: usize,
}

/// Where a run is cut. Without an instant: nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    pub at_ns: Option<u64>,
    /// In the repair.
    pub again_ns: Option<u64>,
    pub seed: u64,
}

/// What is left after this cut is wrong; or, without a cut, the workload fails. `one_cut()` with it repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutFound {
    pub cut: Cut,
    pub what: String,
}

impl fmt::Display for CutFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cut.at_ns, self.cut.again_ns) {
            (Some(at), Some(again)) => write!(f, "cut at {} ns and again at {} ns, seed {}: {}", at, again, self.cut.seed, self.what),
            (Some(at), None) => write!(f, "cut at {} ns, seed {}: {}", at, self.cut.seed, self.what),
            _ => write!(f, "without a cut: {}", self.what),
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

fn text(error: Error) -> String {
    error.to_string()
}

/// Cuts the code at this instant, if there is one, and turns the power on.
fn until_it_is_lost<D: Powered>(device: &mut D, at_ns: Option<u64>, seed: u64, code: impl FnOnce(&mut D) -> Tried) -> Tried {
    let at_ns = match at_ns {
        Some(at_ns) => at_ns,
        None => return code(device),
    };
    device.cut_at(at_ns, seed);
    let done = code(device);
    if device.has_power() {
        done?;
        device.pass_until(at_ns);
    }
    device.recover().map_err(text)
}

type Tried = std::result::Result<(), String>;

/// One run of `every_cut()`, with the cut that it has found. `Ok` has the instants at which a cut of the repair makes a difference, if it is not cut.
pub fn one_cut<D: Powered, T, E: fmt::Display, R: fmt::Display, J: fmt::Display>(
    make: impl Fn() -> Result<D>,
    workload: impl Fn(&mut D, &mut Vec<T>) -> std::result::Result<(), E>,
    repair: impl Fn(&mut D) -> std::result::Result<(), R>,
    judge: impl Fn(&mut D, &[T]) -> std::result::Result<(), J>,
    cut: Cut,
) -> std::result::Result<Vec<u64>, CutFound> {
    let run = || -> std::result::Result<Vec<u64>, String> {
        let mut device = make().map_err(text)?;
        let mut told = Vec::new();
        until_it_is_lost(&mut device, cut.at_ns, cut.seed, |device| tried(|| workload(device, &mut told)))?;
        let begin_ns = device.now_ns();
        device.note_instants();
        until_it_is_lost(&mut device, cut.again_ns, cut.seed, |device| tried(|| repair(device)))?;
        let mut instants = device.instants();
        instants.retain(|&at_ns| at_ns > begin_ns);
        tried(|| judge(&mut device, &told))?;
        Ok(instants)
    };
    run().map_err(|what| CutFound { cut, what })
}

/// Runs `workload(device, told)` once without a cut, to learn when a cut makes a difference; then, `seeds` times at each such instant, each time with another
/// seed, on a new drive that is cut there and recovers, and judges what is left by `judge(device, told)`. `told` is a new vector each time, for what the workload
/// acknowledges. The workload must make the same calls each time, and return when the power is lost.
pub fn every_cut<D: Powered, T, E: fmt::Display, J: fmt::Display>(
    make: impl Fn() -> Result<D>,
    seeds: u64,
    workload: impl Fn(&mut D, &mut Vec<T>) -> std::result::Result<(), E>,
    judge: impl Fn(&mut D, &[T]) -> std::result::Result<(), J>,
) -> std::result::Result<Cuts, CutFound> {
    cut_all(make, seeds, workload, |_: &mut D| Ok::<(), Error>(()), judge, false)
}

/// The same with what your code does after a cut (mount, replay a log, finish an update): it runs before the judge, and is cut everywhere itself.
pub fn every_two_cuts<D: Powered, T, E: fmt::Display, R: fmt::Display, J: fmt::Display>(
    make: impl Fn() -> Result<D>,
    seeds: u64,
    workload: impl Fn(&mut D, &mut Vec<T>) -> std::result::Result<(), E>,
    repair: impl Fn(&mut D) -> std::result::Result<(), R>,
    judge: impl Fn(&mut D, &[T]) -> std::result::Result<(), J>,
) -> std::result::Result<Cuts, CutFound> {
    cut_all(make, seeds, workload, repair, judge, true)
}

fn cut_all<D: Powered, T, E: fmt::Display, R: fmt::Display, J: fmt::Display>(
    make: impl Fn() -> Result<D>,
    seeds: u64,
    workload: impl Fn(&mut D, &mut Vec<T>) -> std::result::Result<(), E>,
    repair: impl Fn(&mut D) -> std::result::Result<(), R>,
    judge: impl Fn(&mut D, &[T]) -> std::result::Result<(), J>,
    with_repair: bool,
) -> std::result::Result<Cuts, CutFound> {
    let whole = |what: String| CutFound { cut: Cut::default(), what };
    if seeds == 0 {
        return Err(whole("no seed, no cut".into()));
    }
    let mut device = make().map_err(|error| whole(text(error)))?;
    device.note_instants();
    tried(|| workload(&mut device, &mut Vec::new())).map_err(whole)?;
    let instants = device.instants();
    let mut cuts = 0;
    for (number, &at_ns) in instants.iter().enumerate() {
        for seed in number as u64 * seeds + 1..=(number as u64 + 1) * seeds {
            let cut = Cut { at_ns: Some(at_ns), again_ns: None, seed };
            let again = one_cut(&make, &workload, &repair, &judge, cut)?;
            cuts += 1;
            for &again_ns in again.iter().filter(|_| with_repair) {
                one_cut(&make, &workload, &repair, &judge, Cut { again_ns: Some(again_ns), ..cut })?;
                cuts += 1;
            }
        }
    }
    Ok(Cuts { instants: instants.len(), cuts })
}
