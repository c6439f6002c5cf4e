use super::resources::IssuePort;
use crate::timing::vector::VectorUnit;
use crate::timing::VectorParameters;
use rackwright_state::state;

/// The units that execute instructions: their ports, and those that are occupied for longer.
pub(super) struct Execution {
    pub(super) memory_port: IssuePort,
    pub(super) float_port: IssuePort,
    pub(super) multiplier_port: IssuePort,
    pub(super) conversion_port: IssuePort,
    pub(super) vector: VectorUnit,
    /// When the dividers are free.
    pub(super) divider: u64,
    pub(super) float_divider: u64,
}

impl Execution {
    /// All free.
    pub(super) fn new(vector: &VectorParameters) -> Execution {
        Execution {
            memory_port: IssuePort::new(),
            float_port: IssuePort::new(),
            multiplier_port: IssuePort::new(),
            conversion_port: IssuePort::new(),
            vector: VectorUnit::new(vector),
            divider: 0,
            float_divider: 0,
        }
    }
}

state!(Execution {
    memory_port,
    float_port,
    multiplier_port,
    conversion_port,
    vector,
    divider,
    float_divider
});
