use crate::Envelope;
use rackwright_link::{Cycle, Item};
use std::error::Error;

/// Why parts could not meet: what went wrong in the connection between them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Apart(#[source] pub Box<dyn Error + Send + Sync>);

/// Where one part of a run meets the others after each window.
pub trait Meeting<T: Item> {
    /// Hands `outgoing[to]` to every part `to`, says at which cycle this part next has something to do,
    /// and waits for all others to do the same. Adds what they hand over to `mail`, and returns the
    /// earliest of the cycles said.
    ///
    /// # Errors
    /// [`Apart`] when another part cannot be reached.
    fn meet(
        &mut self,
        wake: Cycle<T>,
        outgoing: &mut [Vec<Envelope<T>>],
        mail: &mut Vec<Envelope<T>>,
    ) -> Result<Cycle<T>, Apart>;
}
