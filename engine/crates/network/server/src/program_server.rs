use crate::reported::{Output, Reported};
use crate::{Progress, Server, ServerConfig, ServerError};
use rackwright_boot::BareMetal;
use rackwright_ethernet::{Frame, OutputPort, PortCounters, PortParameters};
use rackwright_machine::DecodedPrograms;
use rackwright_process::{Arguments, Environment, Input};
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::network::Cycle;
use rackwright_time::{Clock, Crossing, Hart, Network};
use rackwright_trace::Observation;
use std::error::Error;

/// The parameters of a server in a network that runs a Linux program.
pub struct ProgramConfig<'a> {
    /// The clock of the network.
    pub clock: Clock,
    /// Its port to the link.
    pub port: PortParameters,
    /// The decoded programs that servers of one network with the same parameters share.
    pub code: &'a DecodedPrograms,
    /// The arguments of the program, starting with the program's name.
    pub arguments: &'a [Vec<u8>],
    /// How its harts are observed, if they are.
    pub observation: Option<&'a Observation>,
}

/// A server that runs a Linux program in user mode, as a model of a network. Its system calls are emulated.
///
/// It has no network interface: it sends nothing, and arriving frames are counted and dropped.
pub struct ProgramServer {
    server: Server,
    to_hart: Crossing<Network, Hart>,
    /// Everything before this cycle has been simulated.
    now: Cycle,
    output: OutputPort,
    exit: Option<i32>,
    error: Option<ServerError>,
}

// SAFETY: through `&self` only counts and what was printed are read. The pointers in harts, which alone keep it from
// being shared, are used by its run only, which needs `&mut self`.
unsafe impl Sync for ProgramServer {}

impl ProgramServer {
    /// A server fresh from reset with the static Linux program `file` in memory.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program for it, or the server cannot be built.
    pub fn new(
        config: &ServerConfig<'_>,
        program: &ProgramConfig<'_>,
        file: &[u8],
    ) -> Result<ProgramServer, ServerError> {
        if BareMetal::recognises(file)? {
            return Err(ServerError::NotUserMode);
        }
        let arguments = Arguments {
            arguments: program.arguments.to_vec(),
            environment: Vec::new(),
        };
        let hart = config.parameters.memory.clock;
        let environment = Environment {
            input: Input::default(),
            echo: false,
            write_folder: None,
            clock: hart,
        };
        Ok(ProgramServer {
            server: Server::start(
                config,
                file,
                &arguments,
                environment,
                (program.observation, program.code),
            )?,
            to_hart: Crossing::new(program.clock, hart),
            now: Cycle::ZERO,
            output: OutputPort::new(program.port),
            exit: None,
            error: None,
        })
    }
}

impl Reported for ProgramServer {
    fn instructions(&self) -> u64 {
        self.server.instructions()
    }

    fn unit_cycles(&self) -> u64 {
        self.server.unit_cycles()
    }

    fn counters(&self) -> Counters {
        self.server.counters()
    }

    fn port_counters(&self) -> PortCounters {
        self.output.counters()
    }

    fn queued(&self) -> u64 {
        0
    }

    fn exit_code(&self) -> Option<i32> {
        self.exit
    }

    fn error(&self) -> Option<&dyn Error> {
        self.error.as_ref().map(|error| error as &dyn Error)
    }

    fn output(&self) -> Output {
        Output {
            stdout: self.server.output(),
            stderr: self.server.error_output(),
            ..Output::default()
        }
    }
}

impl State for ProgramServer {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if let Some(error) = &self.error {
            return Err(StateError::Unsaved(format!("it has stopped: {error}")));
        }
        self.server.pass(by)?;
        self.now.pass(by)?;
        State::pass(&mut self.output, by)?;
        self.exit.pass(by)
    }
}

impl Model for ProgramServer {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn cut_through(&self) -> bool {
        false
    }

    fn next_event(&self) -> Cycle {
        if self.is_off() {
            Cycle::NEVER
        } else {
            self.now
        }
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, _outbox: &mut Outbox<'_, Frame>) {
        while let Some((_, arrival)) = arrivals.next() {
            self.output.count_received(arrival.item.length());
        }
        self.now = until;
        if self.is_off() {
            return;
        }
        match self.server.run(self.to_hart.seen(until)) {
            Ok(Progress::Running) => {}
            Ok(Progress::Exited(status)) => self.exit = Some(status),
            Err(error) => self.error = Some(error),
        }
    }

    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.server.digest().value().to_le_bytes());
        digest.number(self.exit.map_or(u64::MAX, |status| status as u64));
    }
}
