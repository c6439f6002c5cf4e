//! The state of a guest in the middle of a run, as a part of a larger checkpoint.

use super::{Guest, Request};
use crate::checkpoint::SavedMachine;
use rackwright_cpu::CpuModel;
use rackwright_state::{Pass, State, StateError};

/// Harts, devices and the pages of memory that may have been written. It is restored into a guest that was started in
/// the same way, whose other pages are shared with other guests.
///
/// What harts keep of translations is not in it: a restored guest may observe another page table than the saved one
/// would have, if its software has changed one without a fence.
impl State for Guest {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.check_saved()?;
        let mut machine = Vec::new();
        if !by.restores() {
            let saved = self.machine.save();
            machine = postcard::to_stdvec(&saved).expect("plain data can always be written to memory");
        }
        machine.pass(by)?;
        if by.restores() {
            let saved: SavedMachine = postcard::from_bytes(&machine).map_err(|_| StateError::Damaged)?;
            self.machine.set_state(&saved).map_err(|_| StateError::Damaged)?;
        }
        self.machine.memory_mut().pass(by)?;
        self.sent.pass(by)?;
        self.ready.pass(by)?;
        pass_request(&mut self.next, by)?;
        self.status.pass(by)
    }
}

impl Guest {
    fn check_saved(&mut self) -> Result<(), StateError> {
        let refused = |reason: &str| Err(StateError::Unsaved(reason.to_string()));
        if self.cpu != CpuModel::Functional {
            return refused("the caches and pipelines of timed harts cannot be saved; use functional harts");
        }
        if self.machine.bus().pci_mut().tree().is_some() {
            return refused("a fabric cannot be saved");
        }
        self.machine.unsaved().map_or(Ok(()), Err)
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
