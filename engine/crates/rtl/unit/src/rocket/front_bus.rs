use rackwright_contract::{Answer, Ticket, Tickets};
use rackwright_memory::{AccessKind, Interconnect, LinkId, RequesterId, Route, Traffic};
use rackwright_rtl::rocket::{Rocket, RocketRequest};
use rackwright_rtl::BEAT_BYTES;
use rackwright_time::{Clock, Cycle, Cycles};
use std::collections::VecDeque;
use std::ops::Range;

/// The way of an access across the pins of the RTL, in each direction.
const CROSSING: Cycles = Cycles::new(1);

/// The port of the RTL for other masters than its cores, as an interconnect of units. The hub in the RTL keeps their
/// accesses coherent with the caches of the cores, so that it also moves the bytes.
pub(super) struct FrontBus {
    clock: Clock,
    /// The addresses of memory.
    memory: Range<u64>,
    /// Bytes of the beats of each link.
    links: Vec<u32>,
    /// Bytes of the beats of each port.
    ports: Vec<u32>,
    tickets: Tickets,
    numbers: u64,
    /// Requests that are still to be passed to the RTL.
    asked: Vec<RocketRequest>,
    outstanding: Vec<(u64, RequesterId, Ticket)>,
    answered: VecDeque<(RequesterId, Ticket, Cycle)>,
    /// A unit has tried to swap a word.
    swapped: bool,
}

impl FrontBus {
    /// A port on the clock of the cores, to the addresses `memory`.
    pub(super) fn new(clock: Clock, memory: Range<u64>) -> FrontBus {
        FrontBus {
            clock,
            memory,
            links: Vec::new(),
            ports: Vec::new(),
            tickets: Tickets::default(),
            numbers: 0,
            asked: Vec::new(),
            outstanding: Vec::new(),
            answered: VecDeque::new(),
            swapped: false,
        }
    }

    /// Whether accesses are outstanding.
    pub(super) fn is_busy(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// Whether a unit has tried to swap a word since the last call: the port has no such access.
    pub(super) fn take_swapped(&mut self) -> bool {
        std::mem::take(&mut self.swapped)
    }

    /// Passes the requests of units to the RTL.
    pub(super) fn send(&mut self, rtl: &mut Rocket) {
        self.asked.drain(..).for_each(|request| rtl.request(&request));
    }

    /// Takes the responses from the RTL.
    pub(super) fn receive(&mut self, rtl: &mut Rocket) {
        while let Some((number, at)) = rtl.take_completion() {
            let mut outstanding = self.outstanding.iter();
            let index = outstanding.position(|(other, ..)| *other == number);
            let index = index.expect("the RTL completes each request once");
            let (_, requester, ticket) = self.outstanding.swap_remove(index);
            self.answered.push_back((requester, ticket, at));
        }
    }

    fn begin(
        &mut self,
        at: Cycle,
        address: u64,
        write: Option<([u8; BEAT_BYTES], u32)>,
        requester: RequesterId,
    ) -> Answer {
        let bytes = self.ports[usize::from(requester.0)];
        let is_inside = self.memory.contains(&address)
            && address
                .checked_add(bytes.into())
                .is_some_and(|end| end <= self.memory.end);
        if !is_inside {
            // The access is refused where it is performed.
            return Answer::At(at + CROSSING + CROSSING, ());
        }
        let ticket = self.tickets.next_ticket();
        self.numbers += 1;
        self.outstanding.push((self.numbers, requester, ticket));
        self.asked.push(RocketRequest {
            number: self.numbers,
            from: at + CROSSING,
            address,
            bytes,
            write,
        });
        Answer::Later(ticket)
    }
}

impl Interconnect for FrontBus {
    const MOVES_BYTES: bool = true;

    fn clock(&self) -> Clock {
        self.clock
    }

    fn attach_link(&mut self, _route: &Route, beat_bytes: u32) -> LinkId {
        self.links.push(beat_bytes);
        LinkId(self.links.len() as u16 - 1)
    }

    fn attach_port(&mut self, link: LinkId, _traffic: Traffic) -> RequesterId {
        self.ports.push(self.links[usize::from(link.0)]);
        RequesterId(self.ports.len() as u16 - 1)
    }

    fn minimum_latency(&self, _requester: RequesterId) -> Cycles {
        CROSSING
    }

    fn ask(&mut self, at: Cycle, address: u64, kind: AccessKind, requester: RequesterId) -> Answer {
        // Other writes come with their bytes.
        self.swapped |= kind == AccessKind::Write;
        self.begin(at, address, None, requester)
    }

    fn ask_to_write(
        &mut self,
        at: Cycle,
        address: u64,
        data: &[u8],
        mask: u32,
        requester: RequesterId,
    ) -> Answer {
        let mut beat = [0; BEAT_BYTES];
        beat[..data.len()].copy_from_slice(data);
        self.begin(at, address, Some((beat, mask)), requester)
    }

    fn answered(&mut self, requester: RequesterId) -> Option<(Ticket, Cycle)> {
        let first = self.answered.iter().position(|(other, ..)| *other == requester)?;
        let (_, ticket, at) = self.answered.remove(first)?;
        Some((ticket, at))
    }
}
