use crate::card::{Card, CardConfig, CardFeatures};
use crate::ServerError;
use num_integer::lcm;
use rackwright_boot::Software;
use rackwright_cpu::CpuModel;
use rackwright_device::Map;
use rackwright_ethernet::{Mac, Rate};
use rackwright_machine::{
    Checkpoint, DecodedPrograms, Extras, Guest, MachineError, MachineParameters, Network, Progress,
};
use rackwright_memory::{Hierarchy, SharedHierarchy};
use rackwright_rtl::Design;
use rackwright_time::unit::Cycle;
use rackwright_time::{hart, Clock, Crossing, Hart, Unit};

/// Interval in cycles of the harts at which harts and NIC observe each other's actions: 100 ns.
const MEETING: hart::Cycles = hart::Cycles::new(200);

/// The initial state of a Linux server.
#[derive(Clone, Copy)]
pub enum LinuxStart<'a> {
    /// At the reset of a machine with this software in memory.
    Reset {
        /// What it boots.
        software: &'a Software<'a>,
        /// How many harts.
        harts: usize,
        /// Bytes of memory.
        memory_bytes: u64,
        /// Whether harts have vector units.
        vector: bool,
    },
    /// A checkpoint of a booted guest. Its NIC is new to it, like a card that was plugged in later.
    Booted(&'a Checkpoint),
}

/// The parameters of a guest with a NIC.
pub(crate) struct CardedConfig<'a> {
    pub(crate) start: LinuxStart<'a>,
    pub(crate) cpu: CpuModel,
    /// The seed of its random numbers.
    pub(crate) seed: u64,
    pub(crate) code: &'a DecodedPrograms,
    /// The network interface, elaborated with `virtio=1`.
    pub(crate) nic: &'a Design,
    /// Of the NIC.
    pub(crate) clock: Clock,
    pub(crate) rate: Rate,
    pub(crate) mac: Mac,
    pub(crate) mtu: u16,
    pub(crate) features: CardFeatures,
    pub(crate) skip_idle: bool,
}

/// A machine that boots Linux and its NIC in RTL, which take turns.
pub(crate) struct CardedGuest {
    pub(crate) guest: Guest,
    pub(crate) card: Card,
    to_hart: Crossing<Unit, Hart>,
    to_card: Crossing<Hart, Unit>,
}

impl CardedGuest {
    /// A guest with a new NIC, and the NIC's cycle in which both begin.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be built, or the software cannot be booted.
    pub(crate) fn new(
        config: &CardedConfig<'_>,
        extras: Extras<'_>,
    ) -> Result<(CardedGuest, Cycle), ServerError> {
        let hierarchy = SharedHierarchy::new(Hierarchy::new(extras.parameters().memory)?);
        let hart = hierarchy.lock().parameters().clock;
        let card = card(config, &hierarchy, hart)?;
        if let Some(observation) = extras.observation {
            let designs = extras.attachment.units.iter();
            let before = designs.map(|unit| unit.design.manifest.events().count()).sum();
            card.observe(observation.units(0), before);
        }
        let network = Network {
            card: Box::new(card.clone()),
            shared: (&hierarchy, config.code),
            every: MEETING,
        };
        let to_card = Crossing::new(hart, config.clock);
        let (mut guest, begins) = match config.start {
            LinuxStart::Reset {
                software,
                harts,
                memory_bytes,
                vector,
            } => {
                let parameters = MachineParameters {
                    cpu: config.cpu,
                    harts,
                    memory_bytes,
                    seed: config.seed,
                    vector,
                };
                let guest = Guest::start_networked(&parameters, software, extras, network)?;
                (guest, hart::Cycle::ZERO)
            }
            LinuxStart::Booted(checkpoint) => {
                let model = (config.cpu, config.seed);
                let mut guest = Guest::restore_networked(checkpoint, model, extras, network)?;
                let begins = wait_for_link(&mut guest, to_card)?;
                (guest, begins)
            }
        };
        let begins = to_card.seen(begins);
        // The card has been idle before, however it is clocked from here on.
        card.advance_to(guest.memory(), begins);
        card.skip_idle(config.skip_idle);
        let parts = CardedGuest {
            guest,
            card,
            to_hart: Crossing::new(config.clock, hart),
            to_card,
        };
        Ok((parts, begins))
    }

    /// Runs the harts to the card's cycle `until`, or until a decision of the caller is needed. Earlier inputs of the
    /// card are known.
    pub(crate) fn run(&mut self, until: Cycle) -> Result<Progress, MachineError> {
        self.card.know(until);
        self.guest.run(self.to_hart.before(until))
    }

    /// Runs the card to its cycle `until`, the time of the harts.
    ///
    /// # Errors
    /// [`MachineError::Unit`] when it is broken.
    pub(crate) fn advance_card(&mut self, until: Cycle) -> Result<(), MachineError> {
        self.card.advance_to(self.guest.memory(), until);
        Ok(self.card.check()?)
    }

    /// The card's cycle of the next event.
    pub(crate) fn next_event(&mut self) -> Cycle {
        let harts = self.guest.next_event();
        self.to_card.seen(harts).min(self.card.next_event())
    }
}

fn card(config: &CardedConfig<'_>, hierarchy: &SharedHierarchy, hart: Clock) -> Result<Card, ServerError> {
    let base = Map::SERVER.memory;
    let memory_bytes = match config.start {
        LinuxStart::Reset { memory_bytes, .. } => memory_bytes,
        LinuxStart::Booted(checkpoint) => checkpoint.memory_bytes(),
    };
    Card::new(&CardConfig {
        design: config.nic,
        hierarchy,
        own: config.clock,
        hart,
        rate: config.rate,
        mac: config.mac.bits(),
        mtu: config.mtu,
        features: config.features,
        memory: base..base.saturating_add(memory_bytes),
    })
}

/// Lets a restored guest wait for a cycle in which it may start: a whole number of cycles of the link, at which harts
/// and NIC are synchronised.
fn wait_for_link(guest: &mut Guest, to_card: Crossing<Hart, Unit>) -> Result<hart::Cycle, MachineError> {
    let grid = lcm(to_card.period().0, MEETING.0);
    let begins = hart::Cycle::new((guest.cycle().0 / grid + 1) * grid);
    // Activity that was in progress at the checkpoint is completed meanwhile.
    guest.run(begins)?;
    Ok(begins)
}
