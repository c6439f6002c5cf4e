use rackwright_time::network::Cycle;
use rackwright_time::Clock;
use std::time::{Duration, Instant};

/// Shorter waits are left for later: the kernel would make them longer.
const SHORTEST_WAIT: Duration = Duration::from_micros(200);

/// Holds simulated time back so that it does not pass real time.
#[derive(Debug)]
pub struct Pace {
    clock: Clock,
    /// Simulated seconds per real second, at most.
    speed: f64,
    start: Option<(Instant, Cycle)>,
}

impl Pace {
    /// Simulated time advances at most `speed` times as fast as real time.
    pub fn new(clock: Clock, speed: f64) -> Pace {
        Pace {
            clock,
            speed,
            start: None,
        }
    }

    /// Waits until real time has reached the cycle `now`. The first call sets the start.
    #[expect(
        clippy::disallowed_methods,
        reason = "it holds simulated time back to real time"
    )]
    pub fn wait(&mut self, now: Cycle) {
        let (start, first) = *self.start.get_or_insert_with(|| (Instant::now(), now));
        let seconds = now.since(first).0 as f64 / self.clock.hertz() as f64 / self.speed;
        let ahead = Duration::from_secs_f64(seconds).saturating_sub(start.elapsed());
        if ahead >= SHORTEST_WAIT {
            std::thread::sleep(ahead);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it is about real time")]
    fn simulated_time_does_not_pass_real_time() {
        let started = Instant::now();
        let mut pace = Pace::new(Clock::new(1_000_000_000).unwrap(), 2.0);
        pace.wait(Cycle::new(500));
        pace.wait(Cycle::new(500 + 10_000_000));
        assert!(started.elapsed() >= Duration::from_millis(5));
    }
}
