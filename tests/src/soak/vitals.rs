//! Memory, descriptors and threads of a daemon over time, and whether the memory stays flat.

use std::fs;

/// One look at a process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vitals {
    /// When, in seconds since the start.
    pub at: f64,
    /// Resident memory, in bytes.
    pub memory: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Threads.
    pub threads: u64,
}

impl Vitals {
    /// Looks at a process; `None` if it is gone.
    pub fn of(pid: u32, at: f64) -> Option<Vitals> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64;
        // A process that has ended and was not reaped has no memory.
        Some(Vitals { at, memory: field("VmRSS:")? * 1024, descriptors, threads: field("Threads:")? })
    }
}

/// How memory went after the warm-up.
#[derive(Debug, Clone, Copy)]
pub struct Trend {
    /// Bytes a second, by least squares.
    pub slope: f64,
    /// What that makes over the time that was looked at.
    pub growth: f64,
    /// The median.
    pub median: u64,
    /// Whether that counts as flat.
    pub is_flat: bool,
}

/// The trend of the last two thirds: the first third is the warm-up, in which histories and pools fill up to their bounds.
///
/// Flat is a growth of at most 8 MB or a tenth of the median, whichever is more: an allocator alone makes that much.
pub fn trend(samples: &[Vitals]) -> Trend {
    let samples = &samples[samples.len() / 3..];
    let n = samples.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Vitals) -> f64| samples.iter().map(of).sum::<f64>() / n;
    let (at, memory) = (mean(&|it| it.at), mean(&|it| it.memory as f64));
    let spread: f64 = samples.iter().map(|it| (it.at - at).powi(2)).sum();
    let both: f64 = samples.iter().map(|it| (it.at - at) * (it.memory as f64 - memory)).sum();
    let slope = if spread > 0.0 { both / spread } else { 0.0 };
    let time = samples.last().map_or(0.0, |it| it.at) - samples.first().map_or(0.0, |it| it.at);
    let mut sorted: Vec<u64> = samples.iter().map(|it| it.memory).collect();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    let growth = slope * time;
    Trend { slope, growth, median, is_flat: growth <= (8_f64 * 1024.0 * 1024.0).max(median as f64 / 10.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(memory: impl Fn(u64) -> u64) -> Vec<Vitals> {
        (0..1_800).map(|at| Vitals { at: at as f64, memory: memory(at), ..Vitals::default() }).collect()
    }

    #[test]
    fn a_leak_of_a_megabyte_a_minute_is_not_flat_and_a_warm_up_is() {
        assert!(!trend(&samples(|at| (40 << 20) + at * (1 << 20) / 60)).is_flat);
        assert!(trend(&samples(|at| (40 << 20) + at.min(500) * 100_000)).is_flat);
        assert!(trend(&samples(|at| (40 << 20) + (at % 30) * 100_000)).is_flat);
    }
}
