use rackwright_contract::flits;
use rackwright_gateway::UserNetwork;
use rackwright_time::unit::{Cycle, Cycles};
use rackwright_unit::SentFrame;
use std::time::{Duration, Instant};

/// The clock of a card whose link ends here: that of a link of 200 Gbit/s.
pub(crate) const HERTZ: u64 = 3_200_000_000;
/// Cycles of the card between two polls of the host: 10 us.
pub(super) const SLICE: Cycles = Cycles::new(HERTZ / 100_000);
const NANOSECONDS: u128 = 1_000_000_000;

/// A link from a card to sockets of the host.
///
/// While the machine is active, its time advances as fast as it can be simulated; while all of it waits, its time
/// advances like the host's, so that external programs have as long to respond as the guest expects.
pub(crate) struct HostLink {
    network: UserNetwork,
    /// When frames go over it next.
    next: Cycle,
    /// When the cable to the card is free again.
    free: Cycle,
}

impl HostLink {
    /// A link to `network` over which frames go from the card's cycle `begins` on.
    pub(crate) fn new(network: UserNetwork, begins: Cycle) -> HostLink {
        HostLink {
            network,
            next: begins,
            free: begins,
        }
    }

    /// When frames go over it next.
    pub(crate) fn next_exchange(&self) -> Cycle {
        self.next
    }

    /// Takes the frames that the card has sent until `now`; returns the frames for the card, and the cycles of their
    /// first flits.
    pub(super) fn exchange(&mut self, now: Cycle, sent: &[SentFrame]) -> Vec<(Cycle, Vec<u8>)> {
        self.next = now + SLICE;
        let time = elapsed(now.since(Cycle::ZERO));
        for frame in sent {
            self.network.send(&frame.bytes, time);
        }
        self.network.advance(time);
        let mut came = Vec::new();
        while let Some(frame) = self.network.receive() {
            let first = self.free.max(now);
            self.free = first + Cycles::new(flits(frame.len()) as u64);
            came.push((first, frame));
        }
        came
    }

    /// There is no other event from `now` to `until`: waits for this time, or until external input arrives. Frames go
    /// over the link when as much of the machine's time has passed.
    #[expect(
        clippy::disallowed_methods,
        reason = "a guest with the network of the host waits for it in real time"
    )]
    pub(super) fn rest(&mut self, now: Cycle, until: Cycle) {
        if until <= now + SLICE {
            return;
        }
        let most = until.since(now);
        let began = Instant::now();
        self.network.wait(elapsed(most));
        let waited = began.elapsed().as_nanos() * u128::from(HERTZ) / NANOSECONDS;
        let waited = u64::try_from(waited).unwrap_or(u64::MAX);
        self.next = now + Cycles::new(waited.clamp(SLICE.0, most.0));
    }
}

/// Duration of `cycles` cycles of the card.
fn elapsed(cycles: Cycles) -> Duration {
    let nanoseconds = u128::from(cycles.0) * NANOSECONDS / u128::from(HERTZ);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}
