use rackwright_ethernet::PortCounters;
use rackwright_stats::Counters;
use std::error::Error;

/// A server of a network as its reports see it, whatever runs on it.
pub trait Reported {
    /// Instructions executed by all harts.
    fn instructions(&self) -> u64;
    /// Cycles of the NIC and of units that were evaluated.
    fn unit_cycles(&self) -> u64;
    /// Counts of caches, of the units' events and of the NIC's, as far as it has them.
    fn counters(&self) -> Counters;
    /// The counters of its port.
    fn port_counters(&self) -> PortCounters;
    /// Frames that wait for a link slower than the NIC.
    fn queued(&self) -> u64;
    /// The status with which its software has ended, if it has.
    fn exit_code(&self) -> Option<i32>;
    /// The reason why it has stopped although its software has not ended, if it has.
    fn error(&self) -> Option<&dyn Error>;
    /// What it has shown so far.
    fn output(&self) -> Output;

    /// Whether it has stopped for good.
    fn is_off(&self) -> bool {
        self.exit_code().is_some() || self.error().is_some()
    }
}

/// What a server has shown: the console's text, and the program's standard output and error.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// Of a server with Linux.
    pub console: Vec<u8>,
    /// Of any.
    pub stdout: Vec<u8>,
    /// Of a server with Linux or a user-mode program.
    pub stderr: Vec<u8>,
}
