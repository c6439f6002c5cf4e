use crate::Envelope;
use rackwright_link::{Cycle, Item};
use std::error::Error;

/// The reason why parts could not synchronise: an error of the connection between them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Apart(#[source] pub Box<dyn Error + Send + Sync>);

/// Synchronisation of one part of a run with the others after each window.
pub trait Meeting<T: Item> {
    /// Passes `outgoing[to]` to every part `to`, announces the cycle of this part's next event, and waits for all
    /// others to do the same. Adds the items from other parts to `mail`, and returns the earliest of the announced
    /// cycles. While it waits, it may call `work`, which does some of this part's work that does not depend on the other
    /// parts, and returns whether there was any.
    ///
    /// # Errors
    /// [`Apart`] when another part cannot be reached.
    fn meet(
        &mut self,
        wake: Cycle<T>,
        outgoing: &mut [Vec<Envelope<T>>],
        mail: &mut Vec<Envelope<T>>,
        work: impl FnMut() -> bool,
    ) -> Result<Cycle<T>, Apart>;
}
