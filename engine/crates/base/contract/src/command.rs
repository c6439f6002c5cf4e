use rackwright_state::state;

/// A RoCC command: a custom instruction as a unit receives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The n of `custom-n`: 0 to 3.
    pub opcode: u8,
    /// The seven bits that distinguish commands.
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

/// The state of its hart that decides how addresses of a command are translated, as of its issue.
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

state!(Command {
    opcode,
    funct,
    rs1,
    rs2,
    rd,
    xd
});
state!(CommandContext {
    satp,
    privilege,
    user_memory,
    executable_readable
});
