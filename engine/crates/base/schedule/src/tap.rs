use rackwright_link::{Cycle, Item};

/// The direction in which an item passed a port, as seen by its model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// It arrived.
    In,
    /// It left.
    Out,
}

/// An item that passed a recorded port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tapped<T: Item> {
    /// The cycle in which its last flit passed.
    pub cycle: Cycle<T>,
    /// The model, in the order in which models were added.
    pub model: usize,
    /// Its port.
    pub port: usize,
    /// Which way.
    pub direction: Direction,
    /// What passed.
    pub item: T,
}

/// Listens to some ports of one model.
#[derive(Debug)]
pub(crate) struct Tap<T: Item> {
    model: usize,
    listening: Vec<bool>,
    heard: Vec<Tapped<T>>,
}

impl<T: Item> Tap<T> {
    pub(crate) fn new(model: usize, ports: usize) -> Tap<T> {
        Tap {
            model,
            listening: vec![false; ports],
            heard: Vec::new(),
        }
    }

    /// A second listener to the same ports, for the other direction.
    pub(crate) fn fork(&mut self) -> Tap<T> {
        Tap {
            model: self.model,
            listening: self.listening.clone(),
            heard: Vec::new(),
        }
    }

    /// Takes over the items that the second listener recorded.
    pub(crate) fn join(&mut self, mut other: Tap<T>) {
        self.heard.append(&mut other.heard);
    }

    pub(crate) fn listen(&mut self, port: usize) {
        self.listening[port] = true;
    }

    pub(crate) fn note(&mut self, cycle: Cycle<T>, port: usize, direction: Direction, item: &T) {
        if self.listening[port] {
            self.heard.push(Tapped {
                cycle,
                model: self.model,
                port,
                direction,
                item: item.clone(),
            });
        }
    }

    /// Moves recorded items into `all`, except those of `until` or later, since earlier items may still be recorded.
    pub(crate) fn take_before(&mut self, until: Cycle<T>, all: &mut Vec<Tapped<T>>) {
        let (past, later) = std::mem::take(&mut self.heard)
            .into_iter()
            .partition::<Vec<_>, _>(|tapped| tapped.cycle < until);
        all.extend(past);
        self.heard = later;
    }
}
