use crate::Flit;
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// The traffic of one direction of a link during `length` cycles from `first` on.
///
/// Only valid flits are kept, so that an empty window is one small record however long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    first: Cycle,
    length: Cycles,
    flits: Vec<(Cycle, Flit)>,
}

impl Window {
    /// An empty window.
    pub fn new(first: Cycle, length: Cycles) -> Window {
        Window {
            first,
            length,
            flits: Vec::new(),
        }
    }

    /// Begins anew as an empty window at another time, keeping the memory.
    pub fn reset(&mut self, first: Cycle, length: Cycles) {
        self.first = first;
        self.length = length;
        self.flits.clear();
    }

    /// The first cycle.
    pub fn first(&self) -> Cycle {
        self.first
    }

    /// The cycle after the last one.
    pub fn end(&self) -> Cycle {
        self.first + self.length
    }

    /// Adds a flit.
    ///
    /// # Panics
    /// When `cycle` is outside the window or not after the flit before: a link carries one flit per cycle.
    pub fn push(&mut self, cycle: Cycle, flit: Flit) {
        assert!(
            cycle >= self.first && cycle < self.end(),
            "{cycle} is outside the window"
        );
        if let Some((before, _)) = self.flits.last() {
            assert!(*before < cycle, "two flits at {cycle}, or out of order");
        }
        self.flits.push((cycle, flit));
    }

    /// The flits with their cycles, in order.
    pub fn flits(&self) -> &[(Cycle, Flit)] {
        &self.flits
    }

    /// The same traffic as the other end of a link of that latency sees it.
    pub fn delay(&mut self, latency: Cycles) {
        self.first += latency;
        for (cycle, _) in &mut self.flits {
            *cycle += latency;
        }
    }

    /// Cuts off what is before `cycle`.
    pub(crate) fn drop_before(&mut self, cycle: Cycle) {
        let kept = self.end().since(cycle);
        self.flits.retain(|(at, _)| *at >= cycle);
        self.first = cycle;
        self.length = kept;
    }

    /// Adds the traffic to a digest. Where the windows were cut does not matter.
    pub fn digest(&self, digest: &mut Digest) {
        for (cycle, flit) in &self.flits {
            digest.cycle(*cycle);
            flit.digest(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delayed_window_carries_the_same_flits_later() {
        let mut window = Window::new(Cycle(10), Cycles(5));
        window.push(Cycle(12), Flit::new(b"abc", true));
        window.delay(Cycles(100));
        assert_eq!(window.first(), Cycle(110));
        assert_eq!(window.end(), Cycle(115));
        assert_eq!(window.flits(), [(Cycle(112), Flit::new(b"abc", true))]);
    }

    #[test]
    #[should_panic(expected = "outside the window")]
    fn a_flit_outside_the_window_is_refused() {
        Window::new(Cycle(0), Cycles(5)).push(Cycle(5), Flit::new(b"a", false));
    }

    #[test]
    fn the_digest_does_not_depend_on_the_cut() {
        let flit = Flit::new(b"abcdefgh", false);
        let (mut whole, mut parts) = (Digest::new(), Digest::new());
        let mut window = Window::new(Cycle(0), Cycles(10));
        window.push(Cycle(3), flit);
        window.push(Cycle(7), flit);
        window.digest(&mut whole);
        for (first, cycle) in [(0, 3), (5, 7)] {
            let mut part = Window::new(Cycle(first), Cycles(5));
            part.push(Cycle(cycle), flit);
            part.digest(&mut parts);
        }
        assert_eq!(whole.value(), parts.value());
    }
}
