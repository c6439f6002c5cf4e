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

/// Connections of the guest: each ends here, and goes on as one of the host.
pub(crate) struct Connections {
    sockets: SocketSet<'static>,
    flows: BTreeMap<Ends, Flow>,
}

enum Flow {
    /// The host connects. The guest has not been answered; `opening` is its frame.
    Opening { stream: TcpStream, opening: Vec<u8> },
    /// Bytes go both ways.
    Open(Open),
}

struct Open {
    handle: SocketHandle,
    stream: TcpStream,
    /// The host's side has nothing more to say.
    host_ended: bool,
    /// The host's side was told that the guest has nothing more to say.
    guest_ended: bool,
}

/// What became of a connection that the host tried.
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

    /// Those that the network looks after.
    pub(crate) fn sockets(&mut self) -> &mut SocketSet<'static> {
        &mut self.sockets
    }

    /// Takes on a segment that opens a connection or repeats that; tells whether the network is to see it now. It is, when
    /// the connection is known there, and when it is to be refused.
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

    /// The frames that opened connections which the host has now made, or which are to be refused: the network is to see them
    /// one by one.
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
                // Where nobody listens the network refuses.
                Attempt::Failed => {}
            }
            openings.push(opening);
        }
        openings
    }

    /// Moves bytes both ways, as far as there are any and there is room, and forgets connections that have ended.
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
            // What is aborted has one segment left to send.
            let done = over && socket.remote_endpoint().is_none();
            if done {
                sockets.remove(open.handle);
            }
            !done
        });
    }

    /// What a wait is for.
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

    /// How many connections there are.
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
            // Where the other side is gone there is nobody to tell.
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

/// How many bytes the host took, first for the buffer that they leave.
fn took(result: io::Result<usize>) -> (usize, io::Result<usize>) {
    match result {
        Ok(bytes) => (bytes, Ok(bytes)),
        Err(error) => (0, later(error)),
    }
}

/// Nothing now, unless it is an error that stays.
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
    // The guest's own stack puts small writes together, or not.
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

/// Who answers in the place of `end`.
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
    // The cable loses nothing, and what the guest waits for is to come now.
    socket.set_nagle_enabled(false);
    socket.set_ack_delay(None);
    socket
}
