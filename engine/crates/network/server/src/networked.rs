use crate::network::{NetworkConfig, Networked};
use crate::reported::{Output, Reported};
use crate::run::Observed;
use crate::stamps::Stamp;
use crate::{ServerConfig, ServerError};
use rackwright_boot::BareMetal;
use rackwright_cpu::{SharedCode, Timing};
use rackwright_ethernet::{Frame, OutputPort, PortCounters};
use rackwright_machine::FromHarts;
use rackwright_memory::{Hierarchy, SharedHierarchy, MAXIMUM_SHARERS};
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::network::Cycle;
use std::error::Error;
use std::sync::Arc;

/// A server with a NIC in RTL, as a model of a network. Its program is bare metal.
pub struct NetworkedServer {
    run: Box<dyn NetworkRun>,
}

// SAFETY: through `&self` only counts and what was printed are read. The pointers in the hart, which alone keep it
// from being shared, are used by its run only, which needs `&mut self`.
unsafe impl Sync for NetworkedServer {}

/// A networked server behind one interface, for any timing model.
pub(crate) trait NetworkRun: Model<Item = Frame> + State {
    fn hardware(&self) -> &dyn Observed;
    fn keep_stamps(&mut self);
    fn stamps(&self) -> &[Stamp];
    fn network(&self) -> NetworkView<'_>;
}

/// The externally visible state of a networked server, in addition to its machine.
pub(crate) struct NetworkView<'a> {
    pub(crate) port: &'a OutputPort,
    pub(crate) nic: Counters,
    pub(crate) pager: Option<Counters>,
    pub(crate) nic_cycles: u64,
    pub(crate) exit: Option<i32>,
    pub(crate) error: Option<&'a ServerError>,
    pub(crate) output: &'a [u8],
}

impl NetworkedServer {
    /// A server fresh from reset with the bare-metal program `file` in memory.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program for it, or the server cannot be built.
    pub fn new(
        config: &ServerConfig<'_>,
        network: &NetworkConfig<'_>,
        file: &[u8],
    ) -> Result<NetworkedServer, ServerError> {
        if !BareMetal::recognises(file)? {
            return Err(ServerError::NotBareMetal {
                on: "a server in a network",
            });
        }
        if !(1..=MAXIMUM_SHARERS).contains(&config.harts) {
            return Err(ServerError::Harts { harts: config.harts });
        }
        let hierarchy = SharedHierarchy::new(Hierarchy::new(config.parameters.memory.clone())?);
        let harts = config.choice(&hierarchy, network.observation);
        let start = Start {
            config,
            network,
            hierarchy: &hierarchy,
            file,
        };
        let run = harts.make(network.code, start)?;
        Ok(NetworkedServer { run })
    }

    /// Records the events between hart, NIC and link from now on.
    pub fn keep_stamps(&mut self) {
        self.run.keep_stamps();
    }

    /// The recorded events, in the order of each clock.
    pub fn stamps(&self) -> &[Stamp] {
        self.run.stamps()
    }
}

impl Reported for NetworkedServer {
    fn instructions(&self) -> u64 {
        self.run.hardware().instructions()
    }

    fn unit_cycles(&self) -> u64 {
        self.run.hardware().unit_cycles() + self.run.network().nic_cycles
    }

    fn counters(&self) -> Counters {
        let mut counters = self.run.hardware().counters();
        let network = self.run.network();
        for (event, count) in network.nic.iter() {
            counters.push(format!("nic.{event}"), count);
        }
        for (event, count) in network.pager.iter().flat_map(Counters::iter) {
            counters.push(format!("page-fault.{event}"), count);
        }
        counters
    }

    fn port_counters(&self) -> PortCounters {
        self.run.network().port.counters()
    }

    fn queued(&self) -> u64 {
        self.run.network().port.queued()
    }

    fn exit_code(&self) -> Option<i32> {
        self.run.network().exit
    }

    fn error(&self) -> Option<&dyn Error> {
        self.run.network().error.map(|error| error as &dyn Error)
    }

    fn output(&self) -> Output {
        Output {
            stdout: self.run.network().output.to_vec(),
            ..Output::default()
        }
    }
}

/// The parameters of a server in a network, for any timing model.
struct Start<'a> {
    config: &'a ServerConfig<'a>,
    network: &'a NetworkConfig<'a>,
    hierarchy: &'a SharedHierarchy,
    file: &'a [u8],
}

impl FromHarts for Start<'_> {
    type Made = Result<Box<dyn NetworkRun>, ServerError>;

    fn make<T>(self, timings: Vec<T>, code: Arc<SharedCode<T::Block>>) -> Self::Made
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync,
    {
        let Start {
            config,
            network,
            hierarchy,
            file,
        } = self;
        let run = Networked::start(config, network, timings, code, hierarchy, file)?;
        Ok(Box::new(run))
    }
}

impl State for NetworkedServer {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.run.pass(by)
    }
}

impl Model for NetworkedServer {
    type Item = Frame;

    fn ports(&self) -> usize {
        self.run.ports()
    }

    fn cut_through(&self) -> bool {
        self.run.cut_through()
    }

    fn next_event(&self) -> Cycle {
        self.run.next_event()
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.run.advance(until, arrivals, outbox);
    }

    fn digest(&self, digest: &mut Digest) {
        self.run.digest(digest);
    }
}
