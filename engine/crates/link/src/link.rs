use crate::Window;
use rackwright_time::{Cycle, Cycles};
use std::collections::VecDeque;

/// One direction of a link: windows that have been sent and not yet received.
#[derive(Debug)]
pub struct Link {
    latency: Cycles,
    in_flight: VecDeque<Window>,
    spare: Vec<Window>,
}

/// A link that cannot exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Its ends would have no independence at all.
    #[error("a link has a latency of at least one cycle")]
    NoLatency,
}

impl Link {
    /// A link of that latency, which at first carries nothing.
    ///
    /// # Errors
    /// [`LinkError::NoLatency`] for a latency of zero.
    pub fn new(latency: Cycles) -> Result<Link, LinkError> {
        if latency == Cycles(0) {
            return Err(LinkError::NoLatency);
        }
        let nothing = Window::new(Cycle::ZERO, latency);
        Ok(Link {
            latency,
            in_flight: VecDeque::from([nothing]),
            spare: Vec::new(),
        })
    }

    /// The latency.
    pub fn latency(&self) -> Cycles {
        self.latency
    }

    /// An empty window to fill and [`Link::send`].
    pub fn window(&mut self, first: Cycle, length: Cycles) -> Window {
        match self.spare.pop() {
            Some(mut window) => {
                window.reset(first, length);
                window
            }
            None => Window::new(first, length),
        }
    }

    /// Sends what one end put out; the other sees it `latency` later.
    pub fn send(&mut self, mut window: Window) {
        window.delay(self.latency);
        self.in_flight.push_back(window);
    }

    /// Moves the flits that arrive before `until` into `into`, which begins where the last one ended.
    pub fn receive(&mut self, into: &mut Window) {
        while let Some(mut front) = self.in_flight.pop_front() {
            let whole = front.end() <= into.end();
            let arrived = front.flits().partition_point(|(cycle, _)| *cycle < into.end());
            for (cycle, flit) in &front.flits()[..arrived] {
                into.push(*cycle, *flit);
            }
            if !whole {
                front.drop_before(into.end());
                self.in_flight.push_front(front);
                return;
            }
            self.spare.push(front);
        }
    }

    /// When the next flit arrives that is on its way.
    pub fn next_arrival(&self) -> Cycle {
        self.in_flight
            .iter()
            .find_map(|window| window.flits().first().map(|(cycle, _)| *cycle))
            .unwrap_or(Cycle::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flit;

    #[test]
    fn flits_arrive_one_latency_later_however_windows_are_cut() {
        let mut link = Link::new(Cycles(10)).unwrap();
        let mut sent = link.window(Cycle(0), Cycles(10));
        sent.push(Cycle(2), Flit::new(b"a", false));
        sent.push(Cycle(9), Flit::new(b"b", true));
        link.send(sent);
        let mut arrived = Vec::new();
        for first in (0..20).step_by(5) {
            let mut window = Window::new(Cycle(first), Cycles(5));
            link.receive(&mut window);
            arrived.extend(window.flits().iter().map(|(cycle, _)| cycle.0));
        }
        assert_eq!(arrived, [12, 19]);
    }

    #[test]
    fn a_link_without_latency_is_refused() {
        assert_eq!(Link::new(Cycles(0)).unwrap_err(), LinkError::NoLatency);
    }
}
