//! A fabric as a part of a machine, behind the host bridge on its PCI bus: harts access it, and its cards access the
//! machine's memory.

use crate::capture::Captured;
use crate::clocks::Edges;
use crate::counters::PortCounters;
use crate::driver::{Access, Space};
use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::host::Host;
use crate::packet::Id;
use crate::system::SystemDescription;
use rackwright_contract::Ticket;
use rackwright_device::{
    Place, Ram, RestoreError, Tree, TreeAccess, TreePlace, CROSSING_LATENCY, FIRST_ROOT_PORT, LINES,
};
use rackwright_memory::SharedHierarchy;
use rackwright_rtl::Design;
use rackwright_stats::Digest;
use rackwright_time::{fabric, Cycle};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A fabric in a machine. Clones are the same fabric: the machine has one, another reports its events.
///
/// It advances with the machine's devices. A hart that waits for a response gets it immediately: the fabric then
/// advances to that response, by at most the latency of a completion, ahead of the other harts of the same window.
#[derive(Clone)]
pub struct Attached(Arc<Mutex<State>>);

struct State {
    fabric: Fabric,
    edges: Edges,
    /// Accesses of harts that the fabric has not processed yet, in order.
    begun: VecDeque<Begun>,
    answers: Vec<Answered>,
    failure: Option<String>,
}

struct Begun {
    access: TreeAccess,
    at: Cycle,
    ticket: Option<Ticket>,
}

struct Answered {
    ticket: Ticket,
    value: u64,
    at: Cycle,
}

impl Attached {
    /// The fabric of a description in a machine with these caches, with memory and pages of interrupt files at these
    /// addresses.
    ///
    /// # Errors
    /// [`FabricError`] if a link or a card differs from its description.
    pub fn new(
        system: SystemDescription,
        designs: &[Design],
        hierarchy: &SharedHierarchy,
        (memory, messages): (Range<u64>, [Place; 2]),
    ) -> Result<Attached, FabricError> {
        let host = Host::attached(hierarchy, memory, messages)?;
        let edges = Edges::of(hierarchy.lock().parameters().clock);
        Ok(Attached(Arc::new(Mutex::new(State {
            fabric: Fabric::with(system, designs, host)?,
            edges,
            begun: VecDeque::new(),
            answers: Vec::new(),
            failure: None,
        }))))
    }

    /// Keeps every packet from now on.
    pub fn capture(&self) {
        self.state().fabric.capture();
    }

    /// The recorded packets, in the order in which they left.
    pub fn take_captured(&self) -> Vec<Captured> {
        self.state().fabric.take_captured()
    }

    /// Names of the ports with the counters of their output, in the order of the links.
    pub fn port_counters(&self) -> Vec<(String, PortCounters)> {
        let state = self.state();
        let counters = state.fabric.port_counters();
        counters
            .map(|(name, counters)| (name.to_string(), counters))
            .collect()
    }

    /// Packets that have crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.state().fabric.packet_hops()
    }

    /// A poisoned lock is taken all the same: the panic ends the run anyway.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tree for Attached {
    fn root_ports(&self) -> u8 {
        self.state().fabric.root.bridges.len() as u8
    }

    fn begin(&mut self, access: TreeAccess, now: Cycle, ticket: Option<Ticket>) {
        let at = now + CROSSING_LATENCY;
        self.state().begun.push_back(Begun { access, at, ticket });
    }

    fn answered(&mut self, ticket: Ticket, ram: &mut Ram<'_>) -> Option<(u64, Cycle)> {
        let mut state = self.state();
        while !state.answers.iter().any(|answer| answer.ticket == ticket) {
            if !state.begun.iter().any(|begun| begun.ticket == Some(ticket)) {
                return None;
            }
            state.perform_next(ram);
        }
        let place = state.answers.iter().position(|answer| answer.ticket == ticket)?;
        let answer = state.answers.swap_remove(place);
        Some((answer.value, answer.at))
    }

    fn next_event(&self) -> Cycle {
        let state = self.state();
        let begun = state.begun.front().map_or(Cycle::NEVER, |begun| begun.at);
        let events = state.fabric.begins().filter(|_| state.failure.is_none());
        events.map_or(Cycle::NEVER, |at| state.edges.seen(at)).min(begun)
    }

    fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        let mut state = self.state();
        while state.begun.front().is_some_and(|begun| begun.at <= now) {
            state.perform_next(ram);
        }
        let until = state.edges.instant(now);
        state.lend(ram, |fabric| fabric.run_until(until));
    }

    fn take_messages(&mut self) -> Vec<(u64, u32)> {
        self.state().fabric.host.take_messages()
    }

    fn lines(&self) -> [bool; LINES] {
        self.state().fabric.raised(FIRST_ROOT_PORT)
    }

    fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    fn forget_unsaved(&mut self) {
        let mut state = self.state();
        if let Err(error) = state.fabric.forget_unsaved() {
            state.failure = Some(error.to_string());
        }
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        let mut state = self.state();
        if !state.begun.is_empty() || !state.answers.is_empty() {
            return Err("an access of a hart is under way".to_string());
        }
        state.fabric.save().map_err(|error| error.to_string())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), RestoreError> {
        self.state().fabric.restore(saved)
    }

    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.state().fabric.digest().value().to_le_bytes());
    }
}

impl State {
    /// Lets the fabric process the next access, and advance to its response if it has one.
    fn perform_next(&mut self, ram: &mut Ram<'_>) {
        let Some(Begun { access, at, ticket }) = self.begun.pop_front() else {
            return;
        };
        let instant = self.edges.instant(at);
        let answer = self.lend(ram, |fabric| {
            fabric.run_until(instant)?;
            fabric.serve(access)
        });
        let Some(ticket) = ticket else {
            return;
        };
        let (value, reached) = answer.unwrap_or((u64::MAX, instant));
        let value = value & u64::MAX >> (64 - 8 * u32::from(access.bytes));
        let value = if access.write.is_some() { 0 } else { value };
        let at = self.edges.seen(reached).max(at) + CROSSING_LATENCY;
        self.answers.push(Answered { ticket, value, at });
    }

    /// Executes a function on the fabric with the machine's memory. An error in it is recorded, and ends the run.
    fn lend<R>(
        &mut self,
        ram: &mut Ram<'_>,
        act: impl FnOnce(&mut Fabric) -> Result<R, FabricError>,
    ) -> Option<R> {
        if self.failure.is_some() {
            return None;
        }
        std::mem::swap(ram.memory(), &mut self.fabric.host.memory);
        let done = act(&mut self.fabric);
        std::mem::swap(ram.memory(), &mut self.fabric.host.memory);
        done.map_err(|error| self.failure = Some(error.to_string())).ok()
    }
}

impl Fabric {
    /// Executes an access of a hart: returns the value, and the time at which it is known. Reads without a target or a
    /// completion return ones.
    fn serve(&mut self, access: TreeAccess) -> Result<(u64, fabric::Cycle), FabricError> {
        let TreeAccess { place, bytes, write } = access;
        let bytes = u16::from(bytes);
        let access = match place {
            TreePlace::Memory(address) => Access {
                space: Space::Window,
                address,
                bytes,
            },
            TreePlace::Configuration {
                bus,
                device,
                function,
                offset,
            } => Access {
                space: Space::Configuration(Id::of(bus, device, function)),
                address: offset.into(),
                bytes,
            },
        };
        match self.access(access, write) {
            Ok(answer) => Ok(answer.map_or((0, self.now), |answer| (answer.data, answer.at))),
            Err(FabricError::Refused { .. } | FabricError::NoCompletion { .. }) => Ok((u64::MAX, self.now)),
            Err(error) => Err(error),
        }
    }
}
