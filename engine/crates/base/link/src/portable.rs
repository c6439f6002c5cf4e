use rackwright_state::{Pass, StateError};

/// Data that can be sent to another process.
pub trait Portable: Sized {
    /// Appends it to `bytes`.
    fn pack(&self, bytes: &mut Vec<u8>);

    /// Removes one value from the front of `bytes`; returns none if they are not packed data.
    fn unpack(bytes: &mut &[u8]) -> Option<Self>;

    /// Passes it as a part of a model's state.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if none was saved.
    fn pass_packed(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        match by {
            Pass::Save(bytes) => self.pack(bytes),
            Pass::Restore(rest) => *self = Self::unpack(rest).ok_or(StateError::Damaged)?,
        }
        Ok(())
    }
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Portable for $kind {
            #[inline]
            fn pack(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn unpack(bytes: &mut &[u8]) -> Option<Self> {
                let (own, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(<$kind>::from_le_bytes(*own))
            }
        }
    )*};
}

number!(u8, u16, u32, u64);
