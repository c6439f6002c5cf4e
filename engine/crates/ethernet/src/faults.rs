use rackwright_time::Cycle;
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

/// A time in which something is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Its first cycle.
    pub from: Cycle,
    /// The first cycle after it.
    pub to: Cycle,
}

impl Outage {
    /// Whether it is under way.
    #[inline]
    pub fn covers(self, at: Cycle) -> bool {
        self.from <= at && at < self.to
    }
}

/// What goes wrong in a switch. The default is nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// Frames are lost with this probability, in 2^32ths.
    loss: u32,
    random: Option<Pcg64>,
    /// When it is down, in order.
    outages: Vec<Outage>,
    /// Of those, how many it has come back from.
    over: usize,
}

impl Faults {
    /// Loses frames with a probability from 0 to 1, and all of them in `outages`, after each of which the switch starts
    /// again.
    pub fn new(loss: f64, mut outages: Vec<Outage>, seed: u64) -> Faults {
        outages.sort_by_key(|outage| outage.from);
        Faults {
            loss: (loss * f64::from(u32::MAX)) as u32,
            random: (loss > 0.0).then(|| Pcg64::new(seed.into(), u128::from(u64::MAX))),
            outages,
            over: 0,
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
        if let Some(random) = &mut self.random {
            if random.next_u32() < self.loss {
                return true;
            }
        }
        self.is_down(at)
    }

    /// Whether the switch has come back since it was last asked.
    #[inline]
    pub(crate) fn restarts(&mut self, at: Cycle) -> bool {
        let over = self.outages.iter().take_while(|outage| outage.to <= at).count();
        std::mem::replace(&mut self.over, over) < over
    }
}
