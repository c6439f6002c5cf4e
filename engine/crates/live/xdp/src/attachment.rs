use crate::bpf::{Map, MapKind, Program};
use crate::memory::LONGEST_FRAME;
use crate::program::{key, program, Facts, EVERY_QUEUE};
use crate::socket::Socket;
use crate::{Counts, Incoming, Interface, Outgoing, XdpError};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of open addresses.
const ADDRESSES: usize = 1 << 14;

/// The mode of attachment: flags of the kernel.
const FLAG_GENERIC: u32 = 1 << 1;
const FLAG_NATIVE: u32 = 1 << 2;

/// Number and interval of retries for resources in use.
const BUSY_LOOKS: usize = 500;
const BUSY_LOOK: Duration = Duration::from_millis(10);

/// The place where frames are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In the driver of the interface, before the kernel processes them.
    Native,
    /// In the kernel, for drivers that cannot: slower.
    Generic,
}

/// A program at an interface, until this is dropped or the process ends, for any reason.
pub struct Attachment {
    interface: Interface,
    mode: Mode,
    addresses: Map,
    sockets: Vec<Arc<Socket>>,
    /// The kernel takes the program away when this is closed.
    _link: OwnedFd,
    /// Sockets leave the program when this is closed.
    _queues: Map,
}

/// One thread's part of an attachment: the frames of one queue of the interface.
pub struct Queue {
    /// Its number.
    pub number: u32,
    /// The incoming frames.
    pub incoming: Incoming,
    /// The frames that go.
    pub outgoing: Outgoing,
}

impl Attachment {
    /// Attaches to an interface, in the requested mode or else in the best available one, with a socket for each of its
    /// queues, but for at most `queues`, at least one. No address is open yet.
    ///
    /// # Errors
    /// [`XdpError`]; then nothing is attached.
    pub fn new(name: &str, mode: Option<Mode>, queues: usize) -> Result<(Attachment, Vec<Queue>), XdpError> {
        let interface = Interface::find(name)?;
        match mode {
            Some(mode) => Attachment::with(interface, mode, queues),
            None => match Attachment::with(interface.clone(), Mode::Native, queues) {
                // Modes that the driver does not support, the kernel may.
                Err(XdpError::Kernel { .. }) => Attachment::with(interface, Mode::Generic, queues),
                result => result,
            },
        }
    }

    fn with(interface: Interface, mode: Mode, queues: usize) -> Result<(Attachment, Vec<Queue>), XdpError> {
        let queue_sockets = Map::create(MapKind::Sockets, 4, 4, queues.max(1))?;
        let addresses = Map::create(MapKind::Hash, 8, 4, ADDRESSES)?;
        let code = program(&Facts {
            mac: interface.mac,
            longest: LONGEST_FRAME,
            pass_unfinished: mode == Mode::Generic,
            addresses: addresses.descriptor(),
            sockets: queue_sockets.descriptor(),
        });
        let (link_flags, bind_flags) = match mode {
            Mode::Native => (FLAG_NATIVE, 0),
            Mode::Generic => (FLAG_GENERIC, libc::XDP_COPY),
        };
        let program = Program::load(&code)?;
        let link =
            patiently(|| program.attach(interface.index, link_flags)).map_err(|error| {
                match is_busy(&error) {
                    true => XdpError::Occupied(interface.name.clone()),
                    false => XdpError::of("attaching a program of BPF to the interface", error),
                }
            })?;
        let mut opened = Vec::new();
        let mut sockets = Vec::new();
        for number in 0..queues.max(1) as u32 {
            let (socket, rings) = Socket::new()?;
            // Memory for reception is ready before frames arrive.
            let incoming = Incoming::new(socket.clone(), rings.received, rings.fill);
            match patiently(|| socket.bind(interface.index, number, bind_flags)) {
                Ok(()) => {}
                Err(error) if is_busy(&error) => {
                    return Err(XdpError::QueueTaken {
                        interface: interface.name,
                        queue: number,
                    })
                }
                // The interface has no such queue.
                Err(error) if number > 0 && error.raw_os_error() == Some(libc::EINVAL) => break,
                Err(error) => return Err(XdpError::of("binding a socket of AF_XDP", error)),
            }
            let descriptor = socket.as_fd().as_raw_fd().to_ne_bytes();
            queue_sockets
                .set(&number.to_ne_bytes(), &descriptor)
                .map_err(|error| XdpError::of("telling BPF of a socket", error))?;
            let outgoing = Outgoing::new(
                socket.clone(),
                rings.sent,
                rings.completed,
                interface.mac,
                interface.mtu,
            );
            opened.push(Queue {
                number,
                incoming,
                outgoing,
            });
            sockets.push(socket);
        }
        let attachment = Attachment {
            interface,
            mode,
            addresses,
            sockets,
            _link: link,
            _queues: queue_sockets,
        };
        Ok((attachment, opened))
    }

    /// The interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The place where frames are taken.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Number of queues with sockets.
    pub fn queues(&self) -> usize {
        self.sockets.len()
    }

    /// Whether the network card itself writes to our memory; otherwise the kernel copies.
    pub fn is_zero_copy(&self) -> bool {
        self.sockets.iter().all(|socket| socket.is_zero_copy())
    }

    /// The counters of the kernel, summed over all queues.
    pub fn counts(&self) -> Counts {
        let lost = self.sockets.iter().map(|socket| socket.counts().lost);
        Counts { lost: lost.sum() }
    }

    /// From now on datagrams for this address arrive as frames: those of the queue, or those of every queue that has a
    /// socket.
    ///
    /// # Errors
    /// The error of the kernel: too many addresses are open.
    pub fn open(&self, address: SocketAddrV4, queue: Option<u32>) -> io::Result<()> {
        let queue = queue.unwrap_or(EVERY_QUEUE);
        self.addresses.set(&key(address), &queue.to_ne_bytes())
    }

    /// From now on datagrams for this address go to the kernel.
    pub fn close(&self, address: SocketAddrV4) {
        // One that is not open stays closed.
        let _ = self.addresses.remove(&key(address));
    }
}

/// Retries an operation for a while if the kernel reports that a resource is in use: a queue or a place for a program
/// can be held for a moment after it was closed.
fn patiently<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut result = act();
    for _ in 0..BUSY_LOOKS {
        match &result {
            Err(error) if is_busy(error) => {
                std::thread::sleep(BUSY_LOOK);
                result = act();
            }
            _ => break,
        }
    }
    result
}

fn is_busy(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
}
