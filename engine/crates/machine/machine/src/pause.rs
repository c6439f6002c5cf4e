use rackwright_device::PowerRequest;

/// Why a machine came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// The cycle to run to has come, or a hart is stalled for what a device does not know before that.
    Reached,
    /// The guest ended a line on this serial port.
    Line(usize),
    /// Software switches the machine off or starts it anew.
    Power(PowerRequest),
    /// The program has ended with this status.
    Exited(i32),
    /// All harts wait, and only somebody outside can wake them.
    Idle,
}
