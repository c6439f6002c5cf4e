/// A RoCC command: a custom instruction as a unit gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The n of `custom-n`: 0 to 3.
    pub opcode: u8,
    /// The seven bits that tell commands apart.
    pub funct: u8,
    /// Value of the first source register; zero when the instruction does not read it.
    pub rs1: u64,
    /// Value of the second source register; zero when the instruction does not read it.
    pub rs2: u64,
    /// Number of the destination register.
    pub rd: u8,
    /// Whether the hart waits for a value of `rd`.
    pub xd: bool,
}

/// What decides how the addresses of a command are translated: of its hart, when it issued the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// The register `satp`.
    pub satp: u64,
    /// The mode of loads and stores: 0 user, 1 supervisor, 3 machine.
    pub privilege: u8,
    /// `mstatus.SUM`: the supervisor may use the pages of programs.
    pub user_memory: bool,
    /// `mstatus.MXR`: executable pages may be read.
    pub executable_readable: bool,
}
