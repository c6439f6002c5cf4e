/// The highest identity of the interrupts of an interrupt file: it has 255, the lowest of which is 1.
pub const HIGHEST_IDENTITY: u32 = 255;

/// A message-signalled interrupt that has arrived at an interrupt file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Number of the hart beside which the file is.
    pub hart: usize,
    /// The level of privilege of the file.
    pub level: Level,
    /// The identity of the interrupt, as it was written. Files ignore identities that they do not have.
    pub identity: u32,
}

/// A level of privilege that takes interrupts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Machine mode.
    Machine,
    /// Supervisor mode.
    Supervisor,
}

impl Level {
    /// Both, in the order of their numbers.
    pub const ALL: [Level; 2] = [Level::Machine, Level::Supervisor];
}
