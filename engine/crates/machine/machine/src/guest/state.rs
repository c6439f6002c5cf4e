//! The state of a guest in the middle of a run, as a part of a larger checkpoint.

use super::{Guest, Request};
use rackwright_state::{Pass, State, StateError};

/// Harts with their units, devices and the pages of memory that may have been written. It is restored into a guest that was started in
/// the same way, whose other pages are shared with other guests.
///
/// What harts keep of translations is not in it: a restored guest may observe another page table than the saved one
/// would have, if its software has changed one without a fence.
impl State for Guest {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if self.machine.bus().pci_mut().tree().is_some() {
            return Err(StateError::Unsaved("a fabric cannot be saved".to_string()));
        }
        self.machine.pass(by)?;
        self.sent.pass(by)?;
        self.ready.pass(by)?;
        pass_request(&mut self.next, by)?;
        self.status.pass(by)
    }
}

fn pass_request(request: &mut Option<Request>, by: &mut Pass<'_>) -> Result<(), StateError> {
    let (mut kind, mut command) = match request.take() {
        None => (0_u8, Vec::new()),
        Some(Request::Prepare(command)) => (1, command),
        Some(Request::Console) => (2, Vec::new()),
        Some(Request::Run(command)) => (3, command),
    };
    kind.pass(by)?;
    command.pass(by)?;
    *request = match kind {
        0 => None,
        1 => Some(Request::Prepare(command)),
        2 => Some(Request::Console),
        3 => Some(Request::Run(command)),
        _ => return Err(StateError::Damaged),
    };
    Ok(())
}
