use crate::guest::Mapped;
use rackwright_cpu::Privilege;

/// An address as code of some context sees it.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) guest: Mapped<'a>,
    pub(crate) privilege: Privilege,
    /// What describes the memory of the task that runs.
    pub(crate) memory: u64,
}
