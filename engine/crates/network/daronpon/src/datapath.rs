use rackwright_dispatch::Counters;

/// A dispatcher that sees frames as bytes.
pub trait Datapath {
    /// A frame has come whole at `now`, in nanoseconds; what leaves is appended to `sent`, in order. An empty frame is a tick:
    /// it only says what time it is.
    fn frame(&mut self, now: u64, frame: &[u8], sent: &mut Vec<Vec<u8>>);

    /// When a tick is wanted at the latest, if no frame comes.
    fn next_timer(&self) -> u64;

    /// What it has decided.
    fn counters(&self) -> Counters;

    /// Frames dropped before the policy saw them.
    fn dropped(&self) -> Dropped;
}

/// Frames that were dropped although they are messages to somebody in this rack.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dropped {
    /// Of an unknown version or kind, or with lengths that contradict each other.
    pub malformed: u64,
    /// Of dispatchers without the key, or of requests whose client is not the one that the dispatcher says.
    pub forged: u64,
}
