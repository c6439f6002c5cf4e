use rackwright_dispatch::Counters;

/// A dispatcher that sees frames as bytes.
pub trait Datapath {
    /// A frame has arrived completely at `now`, in nanoseconds; outgoing frames are appended to `sent`, in order. An
    /// empty frame is a tick: it only passes the time.
    fn frame(&mut self, now: u64, frame: &[u8], sent: &mut Vec<Vec<u8>>);

    /// The latest time for a tick, if no frame arrives.
    fn next_timer(&self) -> u64;

    /// Its decisions.
    fn counters(&self) -> Counters;

    /// Frames dropped before the policy saw them.
    fn dropped(&self) -> Dropped;
}

/// Frames that were dropped although they are messages to nodes in this rack.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dropped {
    /// Of an unknown version or kind, or with lengths that contradict each other.
    pub malformed: u64,
    /// From dispatchers without the key, or requests whose client differs from the dispatcher's information.
    pub forged: u64,
}
