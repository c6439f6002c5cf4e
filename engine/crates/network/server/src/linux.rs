use crate::card::CardFeatures;
use crate::carded::{CardedConfig, CardedGuest, LinuxStart};
use crate::reported::{Output, Reported};
use crate::ServerError;
use rackwright_cpu::{CpuModel, ServerParameters};
use rackwright_ethernet::{Frame, Mac, OutputPort, PortCounters, PortParameters};
use rackwright_machine::{DecodedPrograms, Extras, MachineError, Progress, Request, SHOWN};
use rackwright_rtl::Design;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::network::Cycle;
use rackwright_time::{unit, Clock};
use rackwright_trace::Observation;
use rackwright_unit::{Attachment, PlacedUnit};
use std::error::Error;

/// The parameters of a Linux server.
pub struct LinuxConfig<'a> {
    /// Where it begins.
    pub start: LinuxStart<'a>,
    /// The timing model of its harts.
    pub cpu: CpuModel,
    /// Its timing parameters.
    pub parameters: &'a ServerParameters,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The decoded programs that servers of one network with the same parameters share.
    pub code: &'a DecodedPrograms,
    /// The network interface, elaborated with `virtio=1`.
    pub nic: &'a Design,
    /// Units beside each hart, which translate addresses.
    pub units: &'a [PlacedUnit],
    /// The clock of the network, and of the NIC.
    pub clock: Clock,
    /// Its port to the link.
    pub port: PortParameters,
    /// Its hardware address.
    pub mac: Mac,
    /// The longest packet of its network.
    pub mtu: u16,
    /// The features of its NIC for the driver.
    pub features: CardFeatures,
    /// The command that root executes after booting.
    pub command: &'a [u8],
    /// Whether idle units are not clocked.
    pub skip_idle: bool,
    /// How its harts are observed, if they are.
    pub observation: Option<&'a Observation>,
}

/// A server that boots Linux and has a NIC in RTL, as a model of a network. Its cycles are those of the link.
pub struct LinuxServer {
    parts: CardedGuest,
    /// Cycles that had passed for the card, and with it for harts, when the link's own time began.
    before: unit::Cycles,
    output: OutputPort,
    /// Time of its next event.
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
        let carded = CardedConfig {
            start: config.start,
            cpu: config.cpu,
            seed: config.seed,
            code: config.code,
            nic: config.nic,
            clock: config.clock,
            rate: config.port.rate,
            mac: config.mac,
            mtu: config.mtu,
            features: config.features,
            skip_idle: config.skip_idle,
        };
        let extras = Extras {
            attachment: Attachment {
                units: config.units,
                skip_idle: config.skip_idle,
                ..Attachment::default()
            },
            observation: config.observation,
            parameters: Some(config.parameters),
            ..Extras::default()
        };
        let (mut parts, begins) = CardedGuest::new(&carded, extras)?;
        let command = config.command.to_vec();
        parts.guest.request_when_ready(Request::Run(command));
        Ok(LinuxServer {
            parts,
            before: begins.since(unit::Cycle::ZERO),
            output: OutputPort::new(config.port),
            next: Cycle::ZERO,
            exit: None,
            error: None,
        })
    }

    /// Runs harts and NIC as far as their inputs are known: to the card's cycle `until`.
    fn run(&mut self, until: unit::Cycle) {
        if !self.is_off() {
            match self.parts.run(until) {
                Ok(Progress::Running | Progress::Idle) => {}
                Ok(Progress::Ready) => unreachable!("it was told what to do when it is"),
                Ok(Progress::Off(status)) => self.exit = Some(status),
                Err(error) => self.error = Some(error),
            }
        }
        if let Err(error) = self.parts.advance_card(until) {
            self.error.get_or_insert(error);
        }
    }

    /// Notes its next event, which is not before `until`.
    fn plan(&mut self, until: Cycle) {
        let next = self.next_of_parts();
        self.next = self.on_link(next).max(until);
    }

    /// The link's cycle that is the card's cycle `own`.
    fn on_link(&self, own: unit::Cycle) -> Cycle {
        if own == unit::Cycle::NEVER {
            return Cycle::NEVER;
        }
        Cycle::new(own.0.saturating_sub(self.before.0))
    }

    /// The card's cycle that is the link's cycle `link`.
    fn on_card(&self, link: Cycle) -> unit::Cycle {
        unit::Cycle::new(link.0) + self.before
    }

    fn next_of_parts(&mut self) -> unit::Cycle {
        if self.is_off() {
            return self.parts.card.next_event();
        }
        self.parts.next_event()
    }
}

impl Reported for LinuxServer {
    fn instructions(&self) -> u64 {
        self.parts.guest.instructions()
    }

    fn unit_cycles(&self) -> u64 {
        self.parts.card.evaluated_cycles() + self.parts.guest.unit_cycles()
    }

    fn counters(&self) -> Counters {
        self.parts.card.events()
    }

    fn port_counters(&self) -> PortCounters {
        self.output.counters()
    }

    fn queued(&self) -> u64 {
        self.output.queued()
    }

    fn exit_code(&self) -> Option<i32> {
        self.exit
    }

    fn error(&self) -> Option<&dyn Error> {
        self.error.as_ref().map(|error| error as &dyn Error)
    }

    fn output(&self) -> Output {
        let [console, stdout, stderr] = SHOWN.map(|uart| self.parts.guest.output(uart).to_vec());
        Output {
            console,
            stdout,
            stderr,
        }
    }
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
            self.parts.card.arrive(self.on_card(arrival.cycle), bytes);
        }
        self.run(self.on_card(until));
        for sent in self.parts.card.take_frames() {
            let frame = Frame::raw(&sent.bytes).expect("the NIC's frames have 1 to 9600 bytes");
            let [first, last] = [sent.first, sent.last].map(|own| self.on_link(own));
            self.output.pass(first, last, frame, until, 0, outbox);
        }
        self.plan(until);
    }

    fn rest(&mut self, until: Cycle) {
        self.run(self.on_card(until));
        self.plan(until);
    }

    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.parts.guest.digest().value().to_le_bytes());
        digest.bytes(&self.parts.card.digest().value().to_le_bytes());
        digest.number(self.exit.map_or(u64::MAX, |status| status as u64));
    }
}

impl State for LinuxServer {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if let Some(error) = &self.error {
            return Err(StateError::Unsaved(format!("it has stopped: {error}")));
        }
        self.parts.card.pass(by)?;
        self.parts.guest.pass(by)?;
        State::pass(&mut self.output, by)?;
        self.next.pass(by)?;
        self.exit.pass(by)
    }
}
