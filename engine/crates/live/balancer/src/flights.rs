use crate::hand::Origin;
use rackwright_dispatch::RequestKey;
use std::collections::VecDeque;

/// Slots at first. Slots are used in turn: this is also the number of requests after which a late response could be
/// matched to another request, if numbers have only two bytes.
const FIRST_SLOTS: usize = 4096;
/// Maximum number of slots: the number of values of two bytes.
const MOST_SLOTS: usize = 1 << 16;
/// The bits of a number that are its slot.
const SLOT: u64 = MOST_SLOTS as u64 - 1;

/// A forwarded request whose response has to be returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The destination of the response.
    pub(crate) origin: Origin,
    /// The dispatcher's key of it.
    pub(crate) key: RequestKey,
    /// The index of its service.
    pub(crate) service: usize,
    /// When it was sent on, in nanoseconds.
    pub(crate) since: u64,
    /// Whether the dispatcher counts it: not for probes of whether a replica is alive.
    pub(crate) counted: bool,
}

/// The requests sent on by one thread through one socket, by numbers that no two of them share.
pub(crate) struct Flights {
    slots: Vec<Slot>,
    free: VecDeque<u16>,
    /// All of them in the order in which they were sent on, and some that have ended.
    order: VecDeque<u64>,
    open: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    number: u64,
    flight: Option<Flight>,
}

impl Flights {
    pub(crate) fn new() -> Flights {
        let mut flights = Flights {
            slots: Vec::new(),
            free: VecDeque::new(),
            order: VecDeque::new(),
            open: 0,
        };
        flights.grow(FIRST_SLOTS);
        flights
    }

    fn grow(&mut self, size: usize) {
        let new = self.slots.len()..size;
        self.free.extend(new.map(|slot| slot as u16));
        let empty = Slot {
            number: u64::MAX,
            flight: None,
        };
        self.slots.resize(size, empty);
    }

    /// Number of awaited responses.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Notes a request; its number has `tag` above the slot. None when there is no room.
    pub(crate) fn begin(&mut self, tag: u64, flight: Flight) -> Option<u64> {
        if self.free.is_empty() && self.slots.len() < MOST_SLOTS {
            self.grow(2 * self.slots.len());
        }
        let slot = self.free.pop_front()?;
        let number = tag & !SLOT | u64::from(slot);
        self.slots[usize::from(slot)] = Slot {
            number,
            flight: Some(flight),
        };
        self.order.push_back(number);
        self.open += usize::from(flight.origin != Origin::Probe);
        Some(number)
    }

    /// The request with a number, compared under `mask`, the bits that are returned.
    pub(crate) fn find(&self, number: u64, mask: u64) -> Option<Flight> {
        let slot = self.slots.get((number & SLOT) as usize)?;
        slot.flight.filter(|_| (slot.number ^ number) & mask == 0)
    }

    /// Ends the request that has this slot.
    pub(crate) fn end(&mut self, number: u64) {
        let slot = &mut self.slots[(number & SLOT) as usize];
        if let Some(flight) = slot.flight.take() {
            self.free.push_back((number & SLOT) as u16);
            self.open -= usize::from(flight.origin != Origin::Probe);
        }
        while let Some(first) = self.order.front() {
            if self.is_open(*first) {
                break;
            }
            self.order.pop_front();
        }
    }

    fn is_open(&self, number: u64) -> bool {
        let slot = &self.slots[(number & SLOT) as usize];
        slot.flight.is_some() && slot.number == number
    }

    /// Removes requests that were forwarded before `time`; returns their number.
    pub(crate) fn expire(&mut self, time: u64) -> u64 {
        let mut expired = 0;
        while let Some(first) = self.order.front().copied() {
            let slot = &self.slots[(first & SLOT) as usize];
            if slot.number == first && slot.flight.is_some_and(|flight| flight.since >= time) {
                break;
            }
            self.order.pop_front();
            if self.slots[(first & SLOT) as usize].number == first
                && self.slots[(first & SLOT) as usize].flight.is_some()
            {
                self.end(first);
                expired += 1;
            }
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(since: u64) -> Flight {
        Flight {
            origin: Origin::Client {
                address: ([127, 0, 0, 1], 9).into(),
                number: since,
                route: None,
            },
            key: RequestKey {
                client: 1,
                number: since,
            },
            service: 0,
            since,
            counted: true,
        }
    }

    #[test]
    fn requests_are_found_by_what_came_back_of_their_number() {
        let mut flights = Flights::new();
        let number = flights.begin(0xabcd_0000_1234_0000, flight(5)).unwrap();
        assert_eq!(number & !0xffff, 0xabcd_0000_1234_0000);
        assert_eq!(flights.find(number & 0xffff, 0xffff).unwrap().since, 5);
        assert!(flights.find(number ^ 1 << 40, u64::MAX).is_none());
        assert!(flights.find(number ^ 1 << 40, u32::MAX.into()).is_some());
        flights.end(number);
        assert!(flights.find(number, u64::MAX).is_none());
        assert_eq!(flights.open(), 0);
    }

    #[test]
    fn there_is_room_for_what_two_bytes_can_tell_apart_and_no_more() {
        let mut flights = Flights::new();
        let numbers: Vec<u64> = (0..1 << 16)
            .map(|at| flights.begin(0, flight(at)).unwrap())
            .collect();
        assert!(flights.begin(0, flight(0)).is_none());
        flights.end(numbers[77]);
        assert_eq!(
            flights.begin(0, flight(9)).map(|number| number & 0xffff),
            Some(77)
        );
    }

    #[test]
    fn nobody_waits_for_a_sign_of_life() {
        let mut flights = Flights::new();
        let probe = Flight {
            origin: Origin::Probe,
            ..flight(5)
        };
        let number = flights.begin(0, probe).unwrap();
        assert!(flights.find(number, u64::MAX).is_some());
        assert_eq!(flights.open(), 0);
        flights.end(number);
        assert_eq!(flights.open(), 0);
    }

    #[test]
    fn what_is_old_is_forgotten_once() {
        let mut flights = Flights::new();
        let numbers: Vec<u64> = (0..100)
            .map(|at| flights.begin(at << 16, flight(at)).unwrap())
            .collect();
        (0..100).step_by(2).for_each(|at| flights.end(numbers[at]));
        assert_eq!(flights.expire(50), 25);
        assert_eq!(flights.expire(50), 0);
        assert_eq!(flights.open(), 25);
        assert_eq!(flights.expire(u64::MAX), 25);
        assert!(flights.order.is_empty());
    }
}
