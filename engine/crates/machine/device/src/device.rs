use crate::ram::Ram;
use rackwright_time::Cycle;
use serde::de::DeserializeOwned;
use serde::Serialize;

/// A device that harts reach through its registers.
pub trait Device: Send {
    /// The value of a load of `bytes` bytes at `offset` at `now`; `None` if the device has no such register.
    fn read(&mut self, offset: u64, bytes: u8, now: Cycle) -> Option<u64>;

    /// Stores the low `bytes` bytes of `value` at `offset`; returns whether the device has such a register.
    fn write(&mut self, offset: u64, bytes: u8, value: u64, now: Cycle) -> bool;

    /// Whether its interrupt is active.
    fn interrupts(&self) -> bool {
        false
    }

    /// Time of its next event; [`Cycle::NEVER`] if it has none.
    fn next_event(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Handles its events up to `now`, including accesses to memory.
    fn advance(&mut self, _ram: &mut Ram<'_>, _now: Cycle) {}

    /// Its state, for [`Device::restore`].
    fn save(&self) -> Vec<u8>;

    /// Restores a state returned by [`Device::save`].
    ///
    /// # Errors
    /// [`RestoreError`] if the bytes are not such a state; the device is then unchanged.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError>;
}

/// Bytes that are no state of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the saved state of a device ({device}) is damaged")]
pub struct RestoreError {
    /// Which kind of device.
    pub device: &'static str,
}

/// The bytes of a state, for [`Device::save`].
pub fn encode(state: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(state).expect("plain data can always be written to memory")
}

/// The state encoded by [`encode`].
///
/// # Errors
/// [`RestoreError`] when the bytes are not one.
pub fn decode<S: DeserializeOwned>(state: &[u8], device: &'static str) -> Result<S, RestoreError> {
    postcard::from_bytes(state).map_err(|_| RestoreError { device })
}
