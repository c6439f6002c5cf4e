use crate::{Arrival, Network, NocError, Packet};
use rackwright_contract::{Answer, Ticket, Tickets};
use rackwright_memory::{AccessKind, Interconnect, LinkId, RequesterId, Route, Traffic};
use rackwright_time::{Clock, Cycle, Cycles};
use std::collections::BTreeMap;

/// Bytes of data that a flit carries.
const FLIT_BYTES: usize = 8;

/// Memory at one endpoint of a network, which serves accesses in the order in which they reach it.
#[derive(Clone, Copy, Debug)]
pub struct Bank {
    /// The endpoint.
    pub endpoint: usize,
    /// From the last flit of a request to the first one of its response; at least one cycle.
    pub latency: u64,
    /// Time for which it accepts no other request.
    pub busy: u64,
    /// From the last flit of a response at a port's endpoint to the port; at least one cycle. No port observes a cycle
    /// of the network sooner, so that ports may run this far in one step.
    pub delivery: u64,
}

/// A network as the interconnect between requesters and a [`Bank`]: each request is a packet to the bank, and each
/// response one back. It knows no response before the network has run, and thus returns [`Answer::Later`].
///
/// Ports are assigned to the other endpoints in turn, and share them if there are more ports.
pub struct NetworkMemory<N> {
    network: N,
    clock: Clock,
    bank: Bank,
    /// When the bank serves another access.
    free: u64,
    /// The flits of a beat, by link, and the state of each port.
    links: Vec<usize>,
    ports: Vec<Port>,
    tickets: Tickets,
    /// Requests that have not left their endpoints, and those that have, by packet number.
    asked: Vec<(u64, u32)>,
    accesses: BTreeMap<u32, Access>,
    packets: u32,
    answered: Vec<(RequesterId, Ticket, Cycle)>,
    /// The current cycle of the network.
    reached: u64,
    broken: Option<NocError>,
}

struct Port {
    endpoint: usize,
    beat: usize,
}

struct Access {
    requester: RequesterId,
    ticket: Ticket,
    writes: bool,
}

impl<N: Network> NetworkMemory<N> {
    /// A network that has just left reset, with the clock of all that is attached to it.
    ///
    /// # Errors
    /// [`NocError::NoBank`] when the bank is at no endpoint, or answers take no time.
    pub fn new(network: N, clock: Clock, bank: Bank) -> Result<NetworkMemory<N>, NocError> {
        let endpoints = network.endpoints();
        if bank.endpoint >= endpoints || bank.latency.min(bank.delivery) == 0 {
            return Err(NocError::NoBank { bank, endpoints });
        }
        Ok(NetworkMemory {
            network,
            clock,
            bank,
            free: 0,
            links: Vec::new(),
            ports: Vec::new(),
            tickets: Tickets::default(),
            asked: Vec::new(),
            accesses: BTreeMap::new(),
            packets: 0,
            answered: Vec::new(),
            reached: 0,
            broken: None,
        })
    }

    /// Returns an error if the network has stopped, after which there are no further responses.
    ///
    /// # Errors
    /// [`NocError::Stopped`] when it has.
    pub fn check(&self) -> Result<(), &NocError> {
        self.broken.as_ref().map_or(Ok(()), Err)
    }

    /// Sends requests from before `until`.
    fn send(&mut self, until: u64) {
        self.asked.sort_by_key(|(at, number)| {
            let access = &self.accesses[number];
            (*at, access.requester.0, *number)
        });
        let due = self.asked.partition_point(|(at, _)| *at < until);
        for (created, number) in self.asked.drain(..due) {
            let access = &self.accesses[&number];
            let port = &self.ports[usize::from(access.requester.0)];
            self.network.offer(Packet {
                created,
                source: port.endpoint,
                destination: self.bank.endpoint,
                flits: 1 + if access.writes { port.beat } else { 0 },
                number,
            });
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        if arrival.endpoint == self.bank.endpoint {
            self.serve(arrival);
        } else if let Some(access) = self.accesses.remove(&arrival.number) {
            let at = Cycle::new(arrival.cycle + self.bank.delivery);
            self.answered.push((access.requester, access.ticket, at));
        }
    }

    /// Has the bank serve a request, and its answer leave.
    fn serve(&mut self, arrival: Arrival) {
        let begin = self.free.max(arrival.cycle);
        self.free = begin + self.bank.busy;
        let access = &self.accesses[&arrival.number];
        let port = &self.ports[usize::from(access.requester.0)];
        self.network.offer(Packet {
            created: begin + self.bank.latency,
            source: self.bank.endpoint,
            destination: port.endpoint,
            flits: 1 + if access.writes { 0 } else { port.beat },
            number: arrival.number,
        });
    }
}

impl<N: Network> Interconnect for NetworkMemory<N> {
    fn clock(&self) -> Clock {
        self.clock
    }

    fn attach_link(&mut self, _route: &Route, beat_bytes: u32) -> LinkId {
        self.links.push((beat_bytes as usize).div_ceil(FLIT_BYTES));
        LinkId(self.links.len() as u16 - 1)
    }

    fn attach_port(&mut self, link: LinkId, _traffic: Traffic) -> RequesterId {
        let others = self.network.endpoints() - 1;
        let turn = self.ports.len() % others;
        self.ports.push(Port {
            endpoint: turn + usize::from(turn >= self.bank.endpoint),
            beat: self.links[usize::from(link.0)],
        });
        RequesterId(self.ports.len() as u16 - 1)
    }

    /// Accesses take longer, but no more is known ahead.
    fn minimum_latency(&self, _requester: RequesterId) -> Cycles {
        Cycles::new(self.bank.delivery)
    }

    fn ask(&mut self, at: Cycle, _address: u64, kind: AccessKind, requester: RequesterId) -> Answer {
        debug_assert!(
            at.0 >= self.reached,
            "nothing is asked for that the network has passed"
        );
        let ticket = self.tickets.next_ticket();
        let access = Access {
            requester,
            ticket,
            writes: matches!(kind, AccessKind::Write | AccessKind::WriteBack),
        };
        self.accesses.insert(self.packets, access);
        self.asked.push((at.0, self.packets));
        self.packets += 1;
        Answer::Later(ticket)
    }

    /// The network runs no further at once than the bank takes: its answers leave in time.
    fn advance(&mut self, now: Cycle) {
        let mut arrivals = Vec::new();
        while self.reached < now.0 && self.broken.is_none() {
            let until = now.0.min(self.reached + self.bank.latency);
            self.send(until);
            self.broken = self.network.advance(until, &mut arrivals).err();
            arrivals.drain(..).for_each(|arrival| self.arrive(arrival));
            self.reached = until;
        }
    }

    fn answered(&mut self, requester: RequesterId) -> Option<(Ticket, Cycle)> {
        let mut answered = self.answered.iter();
        let first = answered.position(|(other, ..)| *other == requester)?;
        let (_, ticket, at) = self.answered.remove(first);
        Some((ticket, at))
    }
}
