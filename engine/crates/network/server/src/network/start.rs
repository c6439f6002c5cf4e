use super::accesses::Accesses;
use super::lines::Lines;
use super::tile::LinkedTile;
use super::{Frames, Networked, OnLink};
use crate::bare;
use crate::boot::BootInformation;
use crate::error::ServerError;
use crate::nic::Nic;
use crate::pager::Pager;
use crate::server::attach_on_link;
use crate::stamps::Stamps;
use crate::ServerConfig;
use rackwright_cpu::{ExecutionEnvironment, Feature, Hart, SharedCode, Timing};
use rackwright_ethernet::{Ipv4, Mac, OutputPort, PortParameters};
use rackwright_machine::{DecodedPrograms, Hardware, Machine};
use rackwright_memory::{GuestMemory, SharedHierarchy};
use rackwright_rtl::Design;
use rackwright_time::network::Cycle;
use rackwright_time::{Clock, Crossing};
use rackwright_trace::Observation;
use rackwright_unit::{observe, Core, Stall};
use std::collections::VecDeque;
use std::sync::Arc;

/// The connection of a server to its network.
pub struct NetworkConfig<'a> {
    /// The network interface.
    pub nic: &'a Design,
    /// The page-fault unit, if there is one.
    pub pager: Option<&'a Design>,
    /// The clock of the network.
    pub clock: Clock,
    /// The decoded programs that servers of one network with the same parameters share.
    pub code: &'a DecodedPrograms,
    /// Its port to the link.
    pub port: PortParameters,
    /// Its hardware address.
    pub mac: Mac,
    /// Its Internet address.
    pub address: Ipv4,
    /// The addresses of other servers that its program need not resolve.
    pub neighbours: &'a [(Ipv4, Mac)],
    /// The arguments of its program, starting with the program's name.
    pub arguments: &'a [Vec<u8>],
    /// How its harts are observed, if they are.
    pub observation: Option<&'a Observation>,
}

impl<T: Timing> Networked<T> {
    /// A server at its reset, with the program in `file`.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be built, or the program cannot be loaded.
    pub(crate) fn start(
        config: &ServerConfig<'_>,
        network: &NetworkConfig<'_>,
        timings: Vec<T>,
        code: Arc<SharedCode<T::Block>>,
        hierarchy: &SharedHierarchy,
        file: &[u8],
    ) -> Result<Networked<T>, ServerError> {
        let mut memory = GuestMemory::new(config.guest_bytes)?;
        let information = BootInformation {
            address: network.address.to_bits(),
            neighbours: network.neighbours,
            arguments: network.arguments,
        };
        let entry = bare::load(file, &mut memory, &information)?;
        let hart_clock = hierarchy.lock().parameters().clock;
        let mut nic = Nic::new(
            network.nic,
            &mut hierarchy.lock(),
            network.clock,
            network.port.rate,
            config.skip_idle,
        )?;
        let pager = match network.pager {
            Some(design) => Some(Pager::new(
                design,
                &mut hierarchy.lock(),
                (network.clock, network.port.rate),
                config.skip_idle,
            )?),
            None => None,
        };
        let harts = timings.len();
        let mut cores = Vec::with_capacity(harts);
        for (number, timing) in timings.into_iter().enumerate() {
            let mut units = attach_on_link(config, hierarchy, number)?;
            if let Some(observation) = network.observation {
                let observer = observation.units(number);
                let first = observe(&mut units, &observer, 0);
                if number == 0 {
                    nic.observe(observer, first);
                }
            }
            let hart = Hart::new(number as u64, ExecutionEnvironment::BareMetal, timing);
            let mut core = Core::new(hart, hierarchy.clone(), units);
            bare::reset(&mut core, number, entry);
            core.hart.sharing().share_code(code.clone());
            if let Some(pager) = &pager {
                core.hart.offer(Feature::RemotePages);
                core.pass_on(pager.opcode(), pager.unit())?;
            }
            if number > 0 {
                // Software raises the interrupt for its start.
                core.stall(Stall::Start);
            }
            cores.push(core);
        }
        let mut hardware = Hardware::new(cores, memory, bare::devices(harts));
        nic.set_up(network.mac.bits(), |unit, until| {
            hardware.advance_other(unit, until);
        })?;
        let tile = LinkedTile::of(&mut hardware.cores[0], network.port.rate);
        let link = OnLink {
            nic,
            pager,
            tile,
            to_hart: Crossing::new(network.clock, hart_clock),
            to_link: Crossing::new(hart_clock, network.clock),
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            looked: Cycle::ZERO,
            lines: vec![Lines::default(); harts],
            accesses: Accesses::default(),
            off: false,
            ticked: Cycle::ZERO,
            frames: Frames {
                coming: VecDeque::new(),
                arrived: Cycle::ZERO,
                left: Vec::new(),
            },
            error: None,
            stamps: Stamps::default(),
        };
        Ok(Networked {
            machine: Machine::with(hardware, link),
            output: OutputPort::new(network.port),
        })
    }
}
