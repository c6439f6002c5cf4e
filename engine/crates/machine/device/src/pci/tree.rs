use crate::device::RestoreError;
use crate::map::Place;
use crate::ram::Ram;
use rackwright_contract::Ticket;
use rackwright_memory::SharedHierarchy;
use rackwright_stats::Digest;
use rackwright_time::Cycle;
use std::error::Error;
use std::ops::Range;

/// The first device number of root ports on the host bridge's bus.
pub const FIRST_ROOT_PORT: u8 = 16;
/// Legacy interrupt lines of the host bridge.
pub const LINES: usize = 4;

/// Buses, devices and links below root ports of the host bridge, which take their time: each read is answered later,
/// and so is each write of configuration. Reads without a response return ones, like the host bridge's own.
pub trait Tree: Send {
    /// Number of its root ports; they are devices of bus 0 from [`FIRST_ROOT_PORT`] on.
    fn root_ports(&self) -> u8;

    /// Begins an access of a hart at `now`. One with a ticket is answered by [`Tree::answered`], even if it writes.
    fn begin(&mut self, access: TreeAccess, now: Cycle, ticket: Option<Ticket>);

    /// The value of the access with this ticket, 0 for a write, and when it reaches the hart. Returns `None` for an
    /// unknown ticket; otherwise advances the tree by as much time as the response takes.
    fn answered(&mut self, ticket: Ticket, ram: &mut Ram<'_>) -> Option<(u64, Cycle)>;

    /// Time of its next event; [`Cycle::NEVER`] if there is none before the next access.
    fn next_event(&self) -> Cycle;

    /// Handles its events up to `now`, including accesses to memory.
    fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle);

    /// Writes that have arrived at the interrupt files since the last call, in order: addresses and data.
    fn take_messages(&mut self) -> Vec<(u64, u32)>;

    /// The levels of the host bridge's legacy interrupts that it raises, in their order.
    fn lines(&self) -> [bool; LINES];

    /// The reason why it has stopped, if it has; all reads return ones then.
    fn failure(&self) -> Option<String>;

    /// Forgets what [`Tree::save`] does not contain, as a machine does whose state could be saved now.
    fn forget_unsaved(&mut self);

    /// Its state, for [`Tree::restore`].
    ///
    /// # Errors
    /// The reason why it has none that can be saved.
    fn save(&mut self) -> Result<Vec<u8>, String>;

    /// Restores a state returned by [`Tree::save`] of an equal tree.
    ///
    /// # Errors
    /// [`RestoreError`] when the bytes are not such a state.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError>;

    /// Adds its events to a digest.
    fn digest(&self, digest: &mut Digest);
}

/// An access below the root ports, or to one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeAccess {
    /// Where it goes.
    pub place: TreePlace,
    /// 1, 2, 4 or 8 bytes at a multiple of their number; of configuration no more than 4.
    pub bytes: u8,
    /// The value in these low bytes, if it writes.
    pub write: Option<u64>,
}

/// The target of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreePlace {
    /// The configuration space of a function.
    Configuration {
        /// Its bus; on bus 0 there are the root ports.
        bus: u8,
        /// Its device, of root ports counted from the first one.
        device: u8,
        /// Its number in the device.
        function: u8,
        /// Which byte.
        offset: u16,
    },
    /// An address in a window of the host bridge.
    Memory(u64),
}

/// Makes the tree of a machine.
pub trait TreeMaker: Sync {
    /// A new tree, with the machine's caches, the addresses of its memory, and the pages of its interrupt files.
    ///
    /// # Errors
    /// When it cannot be.
    fn make(
        &self,
        hierarchy: &SharedHierarchy,
        memory: Range<u64>,
        messages: [Place; 2],
    ) -> Result<Box<dyn Tree>, Box<dyn Error + Send + Sync>>;
}
