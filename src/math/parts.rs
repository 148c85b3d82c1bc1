//! Work divided among threads, part by part: each part is computed alone, so their number changes no bit.

use std::panic::resume_unwind;

use super::poll::{self, Halt, Watch, poll};

/// Numbers that are worth a thread.
const WORTH: usize = 1 << 15;

/// Calls `work(i, part)` for the parts of `size` numbers that `values` consists of, with a poll before each.
/// `cost` says how much more than a few operations a number takes.
pub fn parts(values: &mut [f64], size: usize, cost: usize, work: &(impl Fn(usize, &mut [f64]) + Sync)) {
    if values.is_empty() || size == 0 {
        return;
    }
    let count = values.len().div_ceil(size);
    let threads = poll::threads().min(values.len().saturating_mul(cost.max(1)) / WORTH).clamp(1, count);
    let each = count.div_ceil(threads);
    let run = |first: usize, values: &mut [f64]| {
        for (i, part) in values.chunks_mut(size).enumerate() {
            poll();
            work(first + i, part);
        }
    };
    if threads == 1 {
        return run(0, values);
    }
    let jobs = values.chunks_mut(each * size).enumerate();
    divide(jobs.map(|(k, values)| move || run(k * each, values)));
}

/// Runs every job, each in a thread of its own that listens to the host as this one does, and waits for all.
pub fn divide<J: FnOnce() + Send>(jobs: impl Iterator<Item = J>) {
    let watch = poll::current().map(Watch::alone);
    let ended = std::thread::scope(|scope| {
        let running: Vec<_> = jobs
            .map(|job| {
                let watch = watch.clone();
                scope.spawn(move || poll::watched(watch, job))
            })
            .collect();
        running.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut halted: Option<Halt> = None;
    for end in ended {
        match end {
            Ok(Ok(())) => {}
            Ok(Err(halt)) => halted = halted.max(Some(halt)),
            Err(panic) => resume_unwind(panic),
        }
    }
    if let Some(halt) = halted {
        poll::throw(halt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::poll::{Signal, watched};

    #[test]
    fn any_number_of_threads_gives_the_same_numbers() {
        let filled = |threads: usize, size: usize| {
            let mut values = vec![0.0; 100_000];
            let work = |i: usize, part: &mut [f64]| {
                part.iter_mut().enumerate().for_each(|(k, v)| *v = ((i * size + k) as f64).sin());
            };
            watched(Some(Watch::of(None).with_threads(threads)), || parts(&mut values, size, 1, &work))
                .unwrap();
            values
        };
        let alone = filled(1, 1000);
        for (threads, size) in [(2, 1000), (3, 777), (64, 100_000), (5, 1)] {
            assert_eq!(filled(threads, size), alone, "{threads} {size}");
        }
        parts(&mut [], 3, 1, &|_, _| {});
    }

    #[test]
    fn threads_listen_to_the_host_too() {
        let signal = Signal::default();
        let watch = Watch::of(Some(signal.clone())).with_threads(3);
        let mut values = vec![0.0; 1 << 18];
        let ended = watched(Some(watch), || parts(&mut values, 1 << 10, 8, &|_, _| signal.cancel()));
        assert_eq!(ended, Err(Halt::Cancel));
    }
}
