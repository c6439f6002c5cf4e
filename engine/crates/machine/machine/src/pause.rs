use rackwright_device::PowerRequest;

/// The reason why a machine has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// The requested cycle is reached, or a hart is stalled for a response that a device does not know yet.
    Reached,
    /// The guest ended a line on this serial port.
    Line(usize),
    /// Software switches the machine off or restarts it.
    Power(PowerRequest),
    /// The program has ended with this status.
    Exited(i32),
    /// All harts wait, and only an external event can wake them.
    Idle,
}
