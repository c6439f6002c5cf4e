use crate::node::Sender;
use crate::tap::{Direction, Tap};
use crate::Envelope;
use rackwright_link::{Arrival, Arrivals, Cycle, Item};
use rackwright_stats::Digest;

/// A node with ports: a server, a switch, a traffic source, a disk.
pub trait Model: Send {
    /// The items that cross its links.
    type Item: Item;

    /// Its number of ports.
    fn ports(&self) -> usize;

    /// Cycle of its next event if nothing arrives; [`rackwright_time::Cycle::NEVER`] if it only reacts.
    fn next_event(&self) -> Cycle<Self::Item>;

    /// Whether it receives single flits: arrivals then have the cycle of their first flit instead of that of their
    /// last.
    fn cut_through(&self) -> bool {
        false
    }

    /// Advances to `until`: consumes every arrival, in the given order, and sends the items that leave before `until`.
    /// Items that leave later are stored, and [`Model::next_event`] returns their time.
    ///
    /// Its behaviour must not depend on the ends of windows, only on the cycles of events.
    fn advance(
        &mut self,
        until: Cycle<Self::Item>,
        arrivals: &mut Incoming<'_, Self::Item>,
        outbox: &mut Outbox<'_, Self::Item>,
    );

    /// Passes the time until `until`, before which it has no event and nothing arrives.
    ///
    /// A run ends with this, so that what a model counts or digests by time does not depend on when it was visited last:
    /// runs are divided where the host's time suggests it.
    fn rest(&mut self, _until: Cycle<Self::Item>) {}

    /// Adds its internal events so far: commit counts, device events.
    fn digest(&self, digest: &mut Digest);
}

/// The arrivals of a window; they are recorded if there is a listener.
pub struct Incoming<'a, T: Item> {
    pub(crate) arrivals: Arrivals<'a, T>,
    pub(crate) tap: Option<&'a mut Tap<T>>,
}

impl<T: Item> Incoming<'_, T> {
    /// When the next one arrives; [`rackwright_time::Cycle::NEVER`] when none is left in this window.
    #[inline]
    pub fn peek(&self) -> Cycle<T> {
        self.arrivals.peek()
    }

    /// The next one, and its port.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(usize, Arrival<T>)> {
        let (port, arrival) = self.arrivals.next()?;
        if let Some(tap) = &mut self.tap {
            tap.note(arrival.cycle, port, Direction::In, &arrival.item);
        }
        Some((port, arrival))
    }
}

/// The output of a model in a window.
pub struct Outbox<'a, T: Item> {
    pub(crate) ports: &'a mut [Sender<T::Clock>],
    pub(crate) sent: &'a mut Vec<Envelope<T>>,
    pub(crate) tap: Option<&'a mut Tap<T>>,
    pub(crate) from: Cycle<T>,
    pub(crate) until: Cycle<T>,
}

impl<T: Item> Outbox<'_, T> {
    /// Sends an item: its first flit leaves in the cycle `first`, its last in `last`.
    ///
    /// # Panics
    /// When `first` is outside the window, `last` before it, or the port still busy: a link carries
    /// one flit per cycle.
    #[inline]
    pub fn send(&mut self, port: usize, first: Cycle<T>, last: Cycle<T>, item: T) {
        let own = &mut self.ports[port];
        assert!(
            first >= self.from && first < self.until,
            "{first} is outside the window"
        );
        assert!(
            first >= own.free && last >= first,
            "two bursts at {first}, or out of order"
        );
        own.free = Cycle::<T>::new(last.0 + 1);
        own.trail.add(first.0, last.0);
        item.leave(&mut own.trail);
        if let Some(tap) = &mut self.tap {
            tap.note(last, port, Direction::Out, &item);
        }
        if let Some(peer) = own.peer {
            let seen = if peer.cut_through { first } else { last };
            let arrival = Arrival {
                cycle: seen + peer.latency.cycles(),
                item,
            };
            self.sent.push(Envelope {
                node: peer.node,
                port: peer.port,
                arrival,
            });
        }
    }
}
