use crate::{Cycle, Item, Portable};
use rackwright_state::{Pass, State, StateError};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// An item that has arrived at a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival<T: Item> {
    /// The cycle in which its last flit arrives, or its first flit at a model that receives single flits.
    pub cycle: Cycle<T>,
    /// What it is.
    pub item: T,
}

/// The items in flight to the ports of one model, in the order of each port.
#[derive(Debug)]
pub struct Inbox<T: Item> {
    ports: Vec<VecDeque<Arrival<T>>>,
    /// The ports with items in flight, each once, in any order.
    waiting: Vec<u32>,
}

impl<T: Item> Inbox<T> {
    /// No items are in flight to any of `ports` ports.
    pub fn new(ports: usize) -> Inbox<T> {
        Inbox {
            ports: (0..ports).map(|_| VecDeque::new()).collect(),
            waiting: Vec::new(),
        }
    }

    /// Adds an item in flight to a port.
    ///
    /// # Panics
    /// In debug builds, if it would arrive with or before the previous item for the port.
    #[inline]
    pub fn push(&mut self, port: u32, arrival: Arrival<T>) {
        let queue = &mut self.ports[port as usize];
        match queue.back() {
            Some(before) => debug_assert!(before.cycle < arrival.cycle, "a link keeps the order"),
            None => self.waiting.push(port),
        }
        queue.push_back(arrival);
    }

    /// Cycle of the next arrival.
    pub fn next(&self) -> Cycle<T> {
        let heads = self.waiting.iter().map(|port| self.head(*port));
        heads.min().unwrap_or(Cycle::<T>::NEVER)
    }

    /// The arrivals before `until`, merged. `order` is scratch space.
    pub fn before<'a>(&'a mut self, until: Cycle<T>, order: &'a mut Order) -> Arrivals<'a, T> {
        order.0.clear();
        for port in &self.waiting {
            let cycle = self.head(*port);
            if cycle < until {
                order.0.push(Reverse((cycle.0, *port)));
            }
        }
        Arrivals {
            inbox: self,
            order,
            until,
        }
    }

    fn head(&self, port: u32) -> Cycle<T> {
        self.ports[port as usize]
            .front()
            .map_or(Cycle::<T>::NEVER, |arrival| arrival.cycle)
    }
}

/// The items in flight.
impl<T: Item + Portable> State for Inbox<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        for queue in &mut self.ports {
            let count = by.count(queue.len())?;
            if let Pass::Restore(rest) = by {
                queue.clear();
                for _ in 0..count {
                    let cycle = Cycle::<T>::new(u64::unpack(rest).ok_or(StateError::Damaged)?);
                    let item = T::unpack(rest).ok_or(StateError::Damaged)?;
                    queue.push_back(Arrival { cycle, item });
                }
                continue;
            }
            for arrival in queue {
                arrival.cycle.pass(by)?;
                arrival.item.pass_packed(by)?;
            }
        }
        self.waiting.pass(by)
    }
}

/// Space for sorting arrivals, reused by later visits to avoid allocations.
#[derive(Debug, Default)]
pub struct Order(BinaryHeap<Reverse<(u64, u32)>>);

/// The arrivals at a model in a window, in the order (cycle, port).
pub struct Arrivals<'a, T: Item> {
    inbox: &'a mut Inbox<T>,
    order: &'a mut Order,
    until: Cycle<T>,
}

impl<T: Item> Arrivals<'_, T> {
    /// When the next one arrives; [`Cycle::NEVER`] when none is left in this window.
    #[inline]
    pub fn peek(&self) -> Cycle<T> {
        self.order
            .0
            .peek()
            .map_or(Cycle::<T>::NEVER, |Reverse((cycle, _))| Cycle::<T>::new(*cycle))
    }

    /// The next one, and its port.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(usize, Arrival<T>)> {
        let mut top = self.order.0.peek_mut()?;
        let port = top.0 .1;
        let queue = &mut self.inbox.ports[port as usize];
        let arrival = queue.pop_front().expect("a port in the order has an arrival");
        match queue.front() {
            Some(after) if after.cycle < self.until => top.0 .0 = after.cycle.0,
            _ => {
                PeekMut::pop(top);
            }
        }
        Some((port as usize, arrival))
    }

    /// Ends the visit.
    ///
    /// # Panics
    /// If the model has not taken all arrivals of this window.
    pub fn finish(self) {
        assert!(
            self.order.0.is_empty(),
            "a model takes every arrival of its window"
        );
        let Inbox { ports, waiting } = self.inbox;
        waiting.retain(|port| !ports[*port as usize].is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_time::network::Cycle;

    fn inbox(arrivals: &[(u32, u64)]) -> Inbox<u64> {
        let mut inbox = Inbox::new(3);
        for (item, (port, cycle)) in arrivals.iter().enumerate() {
            inbox.push(
                *port,
                Arrival {
                    cycle: Cycle::new(*cycle),
                    item: item as u64,
                },
            );
        }
        inbox
    }

    fn taken(inbox: &mut Inbox<u64>, until: u64) -> Vec<(usize, u64)> {
        let mut order = Order::default();
        let mut arrivals = inbox.before(Cycle::new(until), &mut order);
        let mut taken = Vec::new();
        while let Some((port, arrival)) = arrivals.next() {
            taken.push((port, arrival.cycle.0));
        }
        arrivals.finish();
        taken
    }

    #[test]
    fn arrivals_are_ordered_by_cycle_then_port_whatever_came_in_first() {
        let mut inbox = inbox(&[(2, 5), (0, 5), (1, 3), (0, 9), (1, 20)]);
        assert_eq!(inbox.next(), Cycle::new(3));
        assert_eq!(taken(&mut inbox, 20), [(1, 3), (0, 5), (2, 5), (0, 9)]);
        assert_eq!(inbox.next(), Cycle::new(20));
        assert_eq!(taken(&mut inbox, 21), [(1, 20)]);
        assert_eq!(inbox.next(), Cycle::NEVER);
    }

    #[test]
    fn items_in_flight_are_saved() {
        let mut saved = Vec::new();
        let mut one = inbox(&[(2, 5), (0, 5), (1, 3), (0, 9), (1, 20)]);
        one.pass(&mut Pass::Save(&mut saved)).unwrap();
        let mut other = inbox(&[(2, 1), (2, 2)]);
        other.pass(&mut Pass::Restore(&saved)).unwrap();
        assert_eq!(taken(&mut other, 20), [(1, 3), (0, 5), (2, 5), (0, 9)]);
        assert_eq!(
            inbox(&[]).pass(&mut Pass::Restore(&saved[1..])),
            Err(StateError::Damaged)
        );
    }

    #[test]
    #[should_panic(expected = "takes every arrival")]
    fn a_model_that_leaves_an_arrival_is_caught() {
        let mut inbox = inbox(&[(0, 1)]);
        inbox.before(Cycle::new(2), &mut Order::default()).finish();
    }
}
