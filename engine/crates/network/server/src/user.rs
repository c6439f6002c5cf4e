use crate::card::CardFeatures;
use crate::carded::{CardedConfig, CardedGuest, LinuxStart};
use crate::ServerError;
use rackwright_contract::flits;
use rackwright_cpu::CpuModel;
use rackwright_ethernet::{Mac, Rate};
use rackwright_gateway::user::MTU;
use rackwright_gateway::UserNetwork;
use rackwright_machine::{DecodedPrograms, Extras, Guest, MachineError, Progress};
use rackwright_rtl::Design;
use rackwright_time::unit::{Cycle, Cycles};
use rackwright_time::{hart, Clock};
use std::time::{Duration, Instant};

/// The NIC's clock: that of a link of 200 Gbit/s.
const HERTZ: u64 = 3_200_000_000;
/// Its hardware address: locally administered, of one interface.
const MAC: Mac = Mac([0x52, 0x57, 0x0a, 0x00, 0x02, 0x0f]);
/// Cycles of the NIC between two looks at the host: 10 us.
const SLICE: Cycles = Cycles::new(HERTZ / 100_000);
const NANOSECONDS: u128 = 1_000_000_000;

/// What a guest with a user-mode network is made of.
pub struct UserConfig<'a> {
    /// Where it begins.
    pub start: LinuxStart<'a>,
    /// The timing model of its harts.
    pub cpu: CpuModel,
    /// What its random numbers start from.
    pub seed: u64,
    /// The network interface, elaborated with `virtio=1`.
    pub nic: &'a Design,
}

/// A machine that boots Linux, whose NIC is joined to the host's sockets.
///
/// While something runs in it, its time passes as fast as it can be simulated; while all of it waits, as the host's does, so
/// that who is outside has as long to answer as the guest thinks. No two runs are the same.
pub struct UserGuest {
    parts: CardedGuest,
    network: UserNetwork,
    /// The NIC's cycle that everything has reached.
    now: Cycle,
    /// When the cable to the NIC is free again.
    free: Cycle,
}

impl UserGuest {
    /// A guest on the network `network`.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be built, or the software cannot be booted.
    pub fn new(
        config: &UserConfig<'_>,
        extras: Extras<'_>,
        network: UserNetwork,
    ) -> Result<UserGuest, ServerError> {
        let clock = Clock::new(HERTZ).expect("the clock has a frequency");
        let carded = CardedConfig {
            start: config.start,
            cpu: config.cpu,
            seed: config.seed,
            code: &DecodedPrograms::default(),
            nic: config.nic,
            clock,
            rate: Rate::FULL,
            mac: MAC,
            mtu: MTU as u16,
            features: CardFeatures {
                checksums: false,
                mergeable: false,
                suppression: true,
                frames: 0,
                delay: 0,
            },
            skip_idle: true,
        };
        let (parts, now) = CardedGuest::new(&carded, extras)?;
        Ok(UserGuest {
            parts,
            network,
            now,
            free: now,
        })
    }

    /// The machine.
    pub fn guest(&mut self) -> &mut Guest {
        &mut self.parts.guest
    }

    /// Runs for so many cycles of the harts, or until something is to be decided outside.
    ///
    /// # Errors
    /// [`MachineError`] when the guest does what it should not.
    pub fn run(&mut self, cycles: hart::Cycles) -> Result<Progress, MachineError> {
        let until = self.now + self.parts.on_card(cycles);
        while self.now < until {
            let end = if self.exchange() {
                self.now + SLICE
            } else {
                self.now + self.rest(until)
            };
            let end = end.min(until);
            match self.parts.run(end)? {
                Progress::Running | Progress::Idle => self.parts.advance_card(end)?,
                decided @ (Progress::Ready | Progress::Off(_)) => return Ok(decided),
            }
            self.now = end;
        }
        Ok(Progress::Running)
    }

    /// Has frames go both ways; tells whether any came for the guest.
    fn exchange(&mut self) -> bool {
        let now = elapsed(self.now.since(Cycle::ZERO));
        for sent in self.parts.card.take_frames() {
            self.network.send(&sent.bytes, now);
        }
        self.network.advance(now);
        let mut came = false;
        while let Some(frame) = self.network.receive() {
            let first = self.free.max(self.now);
            self.free = first + Cycles::new(flits(frame.len()) as u64);
            self.parts.card.arrive(first, frame);
            came = true;
        }
        came
    }

    /// Waits as long as nothing happens, but not beyond `until`; gives the time that the guest is to go on for.
    #[expect(
        clippy::disallowed_methods,
        reason = "a guest with the network of the host waits for it in real time"
    )]
    fn rest(&mut self, until: Cycle) -> Cycles {
        let next = self.parts.next_event().min(until);
        if next <= self.now + SLICE {
            return SLICE;
        }
        let began = Instant::now();
        self.network.wait(elapsed(next.since(self.now)));
        let waited = began.elapsed().as_nanos() * u128::from(HERTZ) / NANOSECONDS;
        let waited = u64::try_from(waited).unwrap_or(u64::MAX);
        Cycles::new(waited.clamp(SLICE.0, next.since(self.now).0))
    }
}

/// How long so many cycles of the NIC last.
fn elapsed(cycles: Cycles) -> Duration {
    let nanoseconds = u128::from(cycles.0) * NANOSECONDS / u128::from(HERTZ);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}
