use crate::guest::Mapped;
use rackwright_cpu::Privilege;

/// An address as code of some context sees it.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) guest: Mapped<'a>,
    pub(crate) privilege: Privilege,
    /// The address of the description of the current task's memory.
    pub(crate) memory: u64,
}
