use crate::ram::Ram;
use rackwright_time::Cycle;
use serde::de::DeserializeOwned;
use serde::Serialize;

/// A device that harts reach through its registers.
pub trait Device: Send {
    /// What a load of `bytes` bytes at `offset` reads at `now`; `None` where the device has no such register.
    fn read(&mut self, offset: u64, bytes: u8, now: Cycle) -> Option<u64>;

    /// Stores the low `bytes` bytes of `value` at `offset`; tells whether the device has such a register.
    fn write(&mut self, offset: u64, bytes: u8, value: u64, now: Cycle) -> bool;

    /// Whether it asks for an interrupt.
    fn interrupts(&self) -> bool {
        false
    }

    /// When it next does something by itself; [`Cycle::NEVER`] for one that does nothing.
    fn next_event(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Has it do what was to be done up to `now`, in and out of memory.
    fn advance(&mut self, _ram: &mut Ram<'_>, _now: Cycle) {}

    /// Its state, for [`Device::restore`].
    fn save(&self) -> Vec<u8>;

    /// Takes on a state that [`Device::save`] gave.
    ///
    /// # Errors
    /// [`RestoreError`] when the bytes are not such a state; the device is then as it was.
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

/// The state that [`encode`] gave.
///
/// # Errors
/// [`RestoreError`] when the bytes are not one.
pub fn decode<S: DeserializeOwned>(state: &[u8], device: &'static str) -> Result<S, RestoreError> {
    postcard::from_bytes(state).map_err(|_| RestoreError { device })
}
