use crate::aer::Fault;
use crate::clocks::nanoseconds;
use crate::error::FabricError;
use crate::fabric::{Answer, Fabric, ROOT};
use crate::packet::{Header, Id, Kind, Status};
use crate::parts::Parts;

/// The target of an access of software on the host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Space {
    /// The configuration space of a function.
    Configuration(Id),
    /// A window of a card.
    Window,
}

/// An access of the host, of 1, 2, 4 or 8 bytes at a multiple of their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) bytes: u16,
}

impl Access {
    /// The number of bits before it in its word.
    fn shift(self) -> u64 {
        8 * (self.address & 3)
    }

    /// The bytes of its word that it means, a bit each.
    fn enables(self) -> u8 {
        let bytes = self.bytes.min(4);
        ((1 << bytes) - 1) << (self.address & 3)
    }
}

/// How long the host waits for a completion: the minimum of the default completion time-out (7.5.3.16).
const PATIENCE_NS: f64 = 50_000.0;

impl Fabric {
    /// Makes an access of the host, and waits for its completion; of posted writes there is none.
    ///
    /// # Errors
    /// [`FabricError`] if it is refused, or there is no completion.
    pub(crate) fn access(
        &mut self,
        access: Access,
        write: Option<u64>,
    ) -> Result<Option<Answer>, FabricError> {
        if let Space::Configuration(target) = access.space {
            if target.bus() == ROOT.bus() {
                return self.access_root_port(target, access, write).map(Some);
            }
        }
        let header = header(access, write.is_some());
        let data = (write.unwrap_or(0) << access.shift()).to_le_bytes();
        self.requests.answer = None;
        self.issue(header, &data[..4 * header.payload_words()])?;
        if header.kind == Kind::MemoryWrite {
            return Ok(None);
        }
        let deadline = self.now + nanoseconds(PATIENCE_NS);
        self.run(deadline, |fabric| fabric.requests.answer.is_some())?;
        match self.requests.answer.take() {
            None => {
                self.give_up();
                Err(FabricError::NoCompletion { from: named(access) })
            }
            Some(answer) if answer.status != Status::Successful => {
                Err(FabricError::Refused { from: named(access) })
            }
            Some(mut answer) => {
                answer.data >>= access.shift();
                Ok(Some(answer))
            }
        }
    }

    /// The completion of the request of the host has not come in time: its root port has an error (6.2.3.2.4.4).
    fn give_up(&mut self) {
        if let Some(asked) = self.requests.asked.take() {
            self.rejected.timeouts += 1;
            self.report(asked.port, Fault::CompletionTimeout, &asked.header);
        }
    }

    /// Reads or writes configuration of a port of the root complex, which no packet reaches.
    fn access_root_port(
        &mut self,
        target: Id,
        access: Access,
        write: Option<u64>,
    ) -> Result<Answer, FabricError> {
        let number = usize::from(target.device());
        let refused = || FabricError::Refused { from: named(access) };
        let bridge = self
            .root
            .bridges
            .get_mut(number)
            .filter(|_| target.function() == 0);
        let bridge = bridge.ok_or_else(refused)?;
        let word = access.address / 4;
        let data = u64::from(bridge.read(word)) >> access.shift();
        if let Some(value) = write {
            bridge.write(word, access.enables(), (value << access.shift()) as u32);
            self.root.routes.set(number, bridge);
            self.interrupt(number);
        }
        Ok(Answer {
            at: self.now,
            status: Status::Successful,
            data,
            parts: Parts::default(),
        })
    }

    /// Reads a register of eight bytes in a window of a card.
    ///
    /// # Errors
    /// As of [`Fabric::access`].
    pub(crate) fn read_register(&mut self, address: u64) -> Result<Answer, FabricError> {
        let answer = self.access(register(address), None)?;
        answer.ok_or_else(|| FabricError::NoCompletion {
            from: named(register(address)),
        })
    }

    /// Writes such a register.
    ///
    /// # Errors
    /// As of [`Fabric::access`].
    pub(crate) fn write_register(&mut self, address: u64, value: u64) -> Result<(), FabricError> {
        self.access(register(address), Some(value)).map(drop)
    }
}

fn register(address: u64) -> Access {
    Access {
        space: Space::Window,
        address,
        bytes: 8,
    }
}

fn header(access: Access, write: bool) -> Header {
    let words = access.bytes.div_ceil(4);
    let address = access.address & !3;
    let mut header = match access.space {
        Space::Window => {
            let kind = if write {
                Kind::MemoryWrite
            } else {
                Kind::MemoryRead
            };
            Header::memory(kind, ROOT, 0, address, words)
        }
        Space::Configuration(target) => {
            let kind = if write {
                Kind::ConfigurationWrite(true)
            } else {
                Kind::ConfigurationRead(true)
            };
            let mut header = Header::memory(kind, ROOT, 0, address, words);
            header.request.target = target;
            header
        }
    };
    if words == 1 {
        header.request.enables = access.enables();
    }
    header
}

fn named(access: Access) -> String {
    let address = access.address;
    match access.space {
        Space::Configuration(id) => format!("configuration word {:#x} of {id}", address / 4),
        Space::Window => format!("the register at {address:#x}"),
    }
}
