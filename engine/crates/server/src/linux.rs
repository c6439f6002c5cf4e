use crate::card::{Card, CardConfig, CardFeatures};
use crate::ServerError;
use num_integer::lcm;
use rackwright_boot::Software;
use rackwright_device::Map;
use rackwright_ethernet::{Frame, Mac, OutputPort, PortCounters, PortParameters};
use rackwright_machine::{
    Checkpoint, Code, CpuModel, Guest, MachineError, MachineParameters, Progress, Request, SHOWN,
};
use rackwright_memory::{Hierarchy, HierarchyParameters, SharedHierarchy};
use rackwright_rtl::Design;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Clock, Crossing, Cycle, Cycles};
use rackwright_trace::Observation;

/// Cycles of the harts after which they and the NIC see what the other has done: 100 ns.
const MEETING: Cycles = Cycles(200);

/// Where a Linux server begins.
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
    /// Where a guest was saved that had booted. Its NIC is new to it, as a card that was plugged in meanwhile.
    Booted(&'a Checkpoint),
}

/// What a Linux server is made of.
pub struct LinuxConfig<'a> {
    /// Where it begins.
    pub start: LinuxStart<'a>,
    /// The timing model of its harts.
    pub cpu: CpuModel,
    /// What its random numbers start from.
    pub seed: u64,
    /// Where servers of one network have their decoded programs.
    pub code: &'a Code,
    /// The network interface, elaborated with `virtio=1`.
    pub nic: &'a Design,
    /// The clock of the network, and of the NIC.
    pub clock: Clock,
    /// Its port to the link.
    pub port: PortParameters,
    /// Its hardware address.
    pub mac: Mac,
    /// The longest packet of its network.
    pub mtu: u16,
    /// What its NIC does for its driver.
    pub features: CardFeatures,
    /// What root does when it has booted.
    pub command: &'a [u8],
    /// Whether units in which nothing moves are not clocked.
    pub skip_quiescent: bool,
    /// How its harts are observed, if they are.
    pub observation: Option<&'a Observation>,
}

/// A server that boots Linux and has a NIC in RTL, as a model of a network. Its cycles are those of the link.
pub struct LinuxServer {
    guest: Guest,
    card: Card,
    to_hart: Crossing,
    to_link: Crossing,
    /// Cycles of the link that had passed for harts and card when the link's own time began.
    before: Cycles,
    output: OutputPort,
    command: Vec<u8>,
    /// A hart stands still until the card has answered.
    reads: bool,
    /// When something happens in it next.
    next: Cycle,
    exit: Option<i32>,
    error: Option<MachineError>,
}

// SAFETY: through `&self` only counts and what was printed are read. The pointers in harts, which alone keep it from
// being shared, are used by its run only, which needs `&mut self`.
unsafe impl Sync for LinuxServer {}

impl LinuxServer {
    /// A server that begins with the link's cycle 0.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be built, or the software cannot be booted.
    pub fn new(config: &LinuxConfig<'_>) -> Result<LinuxServer, ServerError> {
        let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server())?);
        let hart = hierarchy.lock().parameters().clock;
        let base = Map::SERVER.memory;
        let memory_bytes = match config.start {
            LinuxStart::Reset { memory_bytes, .. } => memory_bytes,
            LinuxStart::Booted(checkpoint) => checkpoint.memory_bytes(),
        };
        let card = Card::new(&CardConfig {
            design: config.nic,
            hierarchy: &hierarchy,
            own: config.clock,
            hart,
            rate: config.port.rate,
            mac: config.mac.bits(),
            mtu: config.mtu,
            features: config.features,
            memory: base..base.saturating_add(memory_bytes),
        })?;
        if let Some(observation) = config.observation {
            card.publish(observation.units(0));
        }
        let function = Box::new(card.clone());
        let shared = (&hierarchy, config.code);
        let to_link = Crossing::new(hart, config.clock);
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
                let guest = Guest::start_networked(
                    &parameters,
                    software,
                    config.observation,
                    shared,
                    function,
                    MEETING,
                )?;
                (guest, Cycle::ZERO)
            }
            LinuxStart::Booted(checkpoint) => {
                let model = (config.cpu, config.observation);
                let mut guest =
                    Guest::restore_networked(checkpoint, config.seed, model, shared, function, MEETING)?;
                let begins = wait_for_link(&mut guest, to_link)?;
                guest.request(&Request::Run(config.command.to_vec()));
                (guest, begins)
            }
        };
        let before = Cycles(to_link.seen(begins).0);
        // Nothing has moved in the card before, however it is clocked from here on.
        card.advance_to(guest.memory(), Cycle(before.0));
        card.skip_quiescent(config.skip_quiescent);
        Ok(LinuxServer {
            guest,
            card,
            to_hart: Crossing::new(config.clock, hart),
            to_link,
            before,
            output: OutputPort::new(config.port),
            command: config.command.to_vec(),
            reads: false,
            next: Cycle::ZERO,
            exit: None,
            error: None,
        })
    }

    /// Instructions executed by all harts.
    pub fn instructions(&self) -> u64 {
        self.guest.instructions()
    }

    /// Cycles of the NIC that were evaluated.
    pub fn unit_cycles(&self) -> u64 {
        self.card.evaluated_cycles()
    }

    /// What has passed its port.
    pub fn port_counters(&self) -> PortCounters {
        self.output.counters()
    }

    /// Frames that wait for a link slower than the NIC.
    pub fn queued(&self) -> u64 {
        self.output.queued()
    }

    /// Counts of the NIC's events.
    pub fn counters(&self) -> Counters {
        self.card.events()
    }

    /// The status with which its command has ended, if it has.
    pub fn exit_code(&self) -> Option<i32> {
        self.exit
    }

    /// Why it stands still although its command has not ended, if it does.
    pub fn error(&self) -> Option<&MachineError> {
        self.error.as_ref()
    }

    /// Whether it does nothing any more.
    pub fn is_off(&self) -> bool {
        self.exit.is_some() || self.error.is_some()
    }

    /// What came out so far: the console's text, and the command's standard output and error.
    pub fn shown(&self) -> [&[u8]; SHOWN.len()] {
        SHOWN.map(|uart| self.guest.output(uart))
    }

    /// Runs harts and NIC as far as is known what reaches them: to the card's cycle `until`.
    fn run(&mut self, until: Cycle) {
        let limit = Cycle(self.to_hart.fitting(Cycles(until.0)).0);
        while !self.is_off() {
            if self.reads {
                let Some((value, at)) = self.card.finish_read(self.guest.memory(), until) else {
                    return;
                };
                self.guest.finish_read(value, at);
                self.reads = false;
            }
            match self.guest.run(limit) {
                Ok(Progress::Running) if self.guest.cycle() >= limit => break,
                Ok(Progress::Running) => {}
                Ok(Progress::Idle) => break,
                Ok(Progress::Reads) => self.reads = true,
                Ok(Progress::Ready) => self.guest.request(&Request::Run(self.command.clone())),
                Ok(Progress::Off(status)) => self.exit = Some(status),
                Err(error) => self.error = Some(error),
            }
        }
        self.card.advance_to(self.guest.memory(), until);
    }

    /// The link's cycle that is the card's cycle `own`.
    fn on_link(&self, own: Cycle) -> Cycle {
        if own == Cycle::NEVER {
            return own;
        }
        Cycle(own.0.saturating_sub(self.before.0))
    }

    /// In the card's cycles.
    fn next_of_parts(&mut self) -> Cycle {
        let card = self.card.next_event();
        if self.is_off() {
            return card;
        }
        let harts = if self.reads {
            Cycle::ZERO
        } else {
            self.guest.next_event()
        };
        self.to_link.seen(harts).min(card)
    }
}

/// Has a guest that was restored wait for a cycle in which it may begin: one that is a whole number of cycles of the link, and
/// in which harts and NIC meet.
fn wait_for_link(guest: &mut Guest, to_link: Crossing) -> Result<Cycle, MachineError> {
    let grid = lcm(to_link.period().0, MEETING.0);
    let begins = Cycle((guest.cycle().0 / grid + 1) * grid);
    // What it was saved in the middle of is done on the way.
    while guest.cycle() < begins && guest.run(begins)? == Progress::Running {}
    Ok(begins)
}

impl Model for LinuxServer {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn cut_through(&self) -> bool {
        true
    }

    fn next_event(&self) -> Cycle {
        self.next.min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while let Some((_, arrival)) = arrivals.next() {
            self.output.count_received(arrival.item.length());
            let bytes = match &arrival.item {
                Frame::Raw(bytes) => bytes.to_vec(),
                frame => frame.to_bytes(),
            };
            self.card.arrive(arrival.cycle + self.before, bytes);
        }
        self.run(until + self.before);
        for sent in self.card.take_frames() {
            let frame = Frame::raw(&sent.bytes).expect("the NIC's frames have 1 to 9600 bytes");
            let [first, last] = [sent.first, sent.last].map(|own| self.on_link(own));
            self.output.pass(first, last, frame, until, 0, outbox);
        }
        let next = self.next_of_parts();
        self.next = self.on_link(next).max(until);
    }

    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.guest.digest().value().to_le_bytes());
        digest.bytes(&self.card.digest().value().to_le_bytes());
        digest.number(self.exit.map_or(u64::MAX, |status| status as u64));
    }
}
