use rackwright_time::network::{Cycle, Cycles};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

/// A period in which a switch is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Its first cycle.
    pub from: Cycle,
    /// The first cycle after it.
    pub to: Cycle,
}

impl Outage {
    /// Whether it is in progress.
    #[inline]
    pub fn covers(self, at: Cycle) -> bool {
        self.from <= at && at < self.to
    }
}

/// The faults of a switch. By default, there are none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// Frames are lost with this probability, in 2^32ths.
    loss: u32,
    /// Frames are late with this probability, in 2^32ths.
    late: u32,
    /// Maximum delay.
    latest: Cycles,
    random: Option<Pcg64>,
    /// When it is down, in order.
    outages: Vec<Outage>,
    /// Number of them that have ended.
    over: usize,
}

impl Faults {
    /// Loses frames with a probability from 0 to 1, and all of them in `outages`, after each of which the switch
    /// restarts.
    pub fn new(loss: f64, mut outages: Vec<Outage>, seed: u64) -> Faults {
        outages.sort_by_key(|outage| outage.from);
        Faults {
            loss: scaled(loss),
            random: Some(Pcg64::new(seed.into(), u128::from(u64::MAX))),
            outages,
            ..Faults::default()
        }
    }

    /// Frames are late as well, with a probability from 0 to 1, by up to `latest`: others overtake them.
    #[must_use]
    pub fn with_late_frames(self, late: f64, latest: Cycles) -> Faults {
        Faults {
            late: scaled(late),
            latest,
            ..self
        }
    }

    /// Whether the switch is down.
    #[inline]
    pub(crate) fn is_down(&self, at: Cycle) -> bool {
        self.outages.iter().any(|outage| outage.covers(at))
    }

    /// Whether a frame that arrives at `at` is lost.
    #[inline]
    pub(crate) fn loses(&mut self, at: Cycle) -> bool {
        self.happens(self.loss) || self.is_down(at)
    }

    /// The delay of a frame that arrives now.
    #[inline]
    pub(crate) fn delay(&mut self) -> Option<Cycles> {
        if !self.happens(self.late) {
            return None;
        }
        let random = self.random.as_mut()?;
        let share = u128::from(random.next_u64()) * u128::from(self.latest.0);
        Some(Cycles::new(1 + (share >> 64) as u64))
    }

    /// Whether frames are lost or late at random, or in an outage.
    pub(crate) fn are_possible(&self) -> bool {
        self.loss > 0 || self.late > 0 || !self.outages.is_empty()
    }

    #[inline]
    fn happens(&mut self, probability: u32) -> bool {
        let random = self.random.as_mut().filter(|_| probability > 0);
        random.is_some_and(|random| random.next_u32() < probability)
    }

    /// Whether the switch has restarted since the last query.
    #[inline]
    pub(crate) fn restarts(&mut self, at: Cycle) -> bool {
        let over = self.outages.iter().take_while(|outage| outage.to <= at).count();
        std::mem::replace(&mut self.over, over) < over
    }
}

/// A probability in 2^32ths.
fn scaled(probability: f64) -> u32 {
    (probability * f64::from(u32::MAX)) as u32
}
