/// The result of an operation, by the numbers of contract 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// With `end`.
    #[default]
    Ok = 0,
    /// At an instruction that can't be carried out.
    Malformed = 1,
    /// At a store beyond the destination.
    OutputFull = 2,
    /// It is too long, or took too many cycles.
    Unsupported = 3,
    /// Memory refused something.
    AccessFault = 4,
}
