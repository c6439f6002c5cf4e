use crate::user::{outside, MOST_FLOWS};
use rustix::event::PollFlags;
use smoltcp::iface::{SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::wire::IpListenEndpoint;
use socket2::{Domain, Protocol, Type};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes that wait in each direction at most.
const BUFFER: usize = 128 << 10;

/// A connection by its ends, the guest's first.
pub(crate) type Ends = (SocketAddrV4, SocketAddrV4);

/// Connections of the guest: each ends here, and continues as one of the host.
pub(crate) struct Connections {
    sockets: SocketSet<'static>,
    flows: BTreeMap<Ends, Flow>,
}

enum Flow {
    /// The host connects. The guest has not been answered; `opening` is its frame.
    Opening { stream: TcpStream, opening: Vec<u8> },
    /// Bytes are transferred in both directions.
    Open(Open),
}

struct Open {
    handle: SocketHandle,
    stream: TcpStream,
    /// The host's side has closed its direction.
    host_ended: bool,
    /// The host's side has been notified that the guest has closed its direction.
    guest_ended: bool,
}

/// The result of the host's attempt to connect.
enum Attempt {
    Waiting,
    Made,
    Failed,
}

impl Connections {
    pub(crate) fn new() -> Connections {
        Connections {
            sockets: SocketSet::new(Vec::new()),
            flows: BTreeMap::new(),
        }
    }

    /// The sockets of the network.
    pub(crate) fn sockets(&mut self) -> &mut SocketSet<'static> {
        &mut self.sockets
    }

    /// Processes a segment that opens a connection or repeats this; returns whether to pass it to the network now. It
    /// is passed on if the connection is known there, or if it is to be refused.
    pub(crate) fn open(&mut self, ends: Ends, frame: &[u8], names: Option<Ipv4Addr>) -> bool {
        match self.flows.get(&ends) {
            Some(Flow::Opening { .. }) => return false,
            Some(Flow::Open(_)) => return true,
            None => {}
        }
        let target = outside(ends.1, names).filter(|_| self.flows.len() < MOST_FLOWS);
        match target.map(connect) {
            Some(Ok(stream)) => {
                let opening = frame.to_vec();
                self.flows.insert(ends, Flow::Opening { stream, opening });
                false
            }
            _ => true,
        }
    }

    /// The frames that opened connections which the host has now established, or which are to be refused: they are to
    /// be passed to the network one by one.
    pub(crate) fn settled(&mut self) -> Vec<Vec<u8>> {
        let mut openings = Vec::new();
        let waiting = std::mem::take(&mut self.flows);
        for (ends, flow) in waiting {
            let (stream, opening) = match flow {
                Flow::Opening { stream, opening } => (stream, opening),
                open @ Flow::Open(_) => {
                    self.flows.insert(ends, open);
                    continue;
                }
            };
            match attempt(&stream) {
                Attempt::Waiting => {
                    self.flows.insert(ends, Flow::Opening { stream, opening });
                    continue;
                }
                Attempt::Made => {
                    let handle = self.sockets.add(listening(ends.1));
                    let open = Open {
                        handle,
                        stream,
                        host_ended: false,
                        guest_ended: false,
                    };
                    self.flows.insert(ends, Flow::Open(open));
                }
                // If no program listens, the network refuses.
                Attempt::Failed => {}
            }
            openings.push(opening);
        }
        openings
    }

    /// Moves bytes in both directions, as far as there are any and there is room, and removes ended connections.
    pub(crate) fn exchange(&mut self) {
        let sockets = &mut self.sockets;
        self.flows.retain(|_, flow| {
            let Flow::Open(open) = flow else {
                return true;
            };
            let socket = sockets.get_mut::<Socket<'_>>(open.handle);
            if open.exchange(socket).is_err() {
                socket.abort();
            }
            // A socket that still listens did not find its opening segment right.
            let over = matches!(socket.state(), State::Closed | State::Listen);
            // An aborted connection has one segment left to send.
            let done = over && socket.remote_endpoint().is_none();
            if done {
                sockets.remove(open.handle);
            }
            !done
        });
    }

    /// The events to wait for.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        self.flows.values().filter_map(|flow| match flow {
            Flow::Opening { stream, .. } => Some((stream.as_fd(), PollFlags::OUT)),
            Flow::Open(open) => {
                let socket = self.sockets.get::<Socket<'_>>(open.handle);
                let mut flags = PollFlags::empty();
                flags.set(PollFlags::IN, !open.host_ended && socket.can_send());
                flags.set(PollFlags::OUT, socket.can_recv());
                (!flags.is_empty()).then(|| (open.stream.as_fd(), flags))
            }
        })
    }

    /// Number of connections.
    #[cfg(test)]
    pub(crate) fn flows(&self) -> usize {
        self.flows.len()
    }
}

impl Open {
    fn exchange(&mut self, socket: &mut Socket<'_>) -> io::Result<()> {
        while socket.can_recv() {
            let moved = socket.recv(|bytes| took(self.stream.write(bytes)));
            if moved.expect("it can receive")? == 0 {
                break;
            }
        }
        let established = !matches!(socket.state(), State::Listen | State::SynReceived);
        if established && !socket.may_recv() && !self.guest_ended {
            self.guest_ended = true;
            // If the other side has closed, no notification is needed.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        while !self.host_ended && socket.can_send() {
            let moved = socket.send(|room| match self.stream.read(room) {
                Ok(0) => (0, Ok(None)),
                Ok(bytes) => (bytes, Ok(Some(bytes))),
                Err(error) => (0, later(error).map(Some)),
            });
            match moved.expect("it can send")? {
                None => {
                    self.host_ended = true;
                    socket.close();
                }
                Some(0) => break,
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// The number of bytes that the host accepted, first for the buffer that they leave.
fn took(result: io::Result<usize>) -> (usize, io::Result<usize>) {
    match result {
        Ok(bytes) => (bytes, Ok(bytes)),
        Err(error) => (0, later(error)),
    }
}

/// None at present, unless it is a permanent error.
fn later(error: io::Error) -> io::Result<usize> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(0),
        _ => Err(error),
    }
}

/// Begins a connection.
fn connect(target: SocketAddrV4) -> io::Result<TcpStream> {
    let socket = socket2::Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    match socket.connect(&target.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
        _ => {}
    }
    // The guest's own stack decides whether to combine small writes.
    socket.set_tcp_nodelay(true)?;
    Ok(socket.into())
}

fn attempt(stream: &TcpStream) -> Attempt {
    if !matches!(stream.take_error(), Ok(None)) {
        return Attempt::Failed;
    }
    match stream.peer_addr() {
        Ok(_) => Attempt::Made,
        Err(_) => Attempt::Waiting,
    }
}

/// A socket that responds in place of `end`.
fn listening(end: SocketAddrV4) -> Socket<'static> {
    let buffer = || SocketBuffer::new(vec![0; BUFFER]);
    let mut socket = Socket::new(buffer(), buffer());
    let endpoint = IpListenEndpoint {
        addr: Some((*end.ip()).into()),
        port: end.port(),
    };
    socket
        .listen(endpoint)
        .expect("a new socket may listen on a port");
    // The cable loses no data, and data for which the guest waits must arrive now.
    socket.set_nagle_enabled(false);
    socket.set_ack_delay(None);
    socket
}
