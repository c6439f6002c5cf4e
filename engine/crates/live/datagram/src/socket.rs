use socket2::{Domain, Protocol, SockAddr, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

/// The options of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Other sockets of this process share the address; the kernel spreads clients over them.
    pub shared: bool,
    /// Bytes the kernel keeps for it in each direction. The kernel may grant less.
    pub buffer_bytes: usize,
    /// Receiving and sending do not wait.
    pub nonblocking: bool,
    /// The kernel may join datagrams of one sender to one message.
    pub joins: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            shared: false,
            buffer_bytes: 4 << 20,
            nonblocking: true,
            joins: true,
        }
    }
}

/// A UDP socket.
#[derive(Debug)]
pub struct Socket {
    socket: socket2::Socket,
}

impl Socket {
    /// A socket bound to an address; port 0 takes a free one.
    ///
    /// # Errors
    /// The error of the kernel, for example that the address is in use.
    pub fn bind(address: SocketAddr, options: Options) -> io::Result<Socket> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if options.shared {
            socket.set_reuse_port(true)?;
        }
        socket.set_recv_buffer_size(options.buffer_bytes)?;
        socket.set_send_buffer_size(options.buffer_bytes)?;
        socket.set_nonblocking(options.nonblocking)?;
        socket.bind(&SockAddr::from(address))?;
        if options.joins {
            join_received(&socket);
        }
        Ok(Socket { socket })
    }

    /// A socket that exchanges datagrams with one address alone, from a free port.
    ///
    /// # Errors
    /// The error of the kernel, for example that there is no route.
    pub fn connect(to: SocketAddr, options: Options) -> io::Result<Socket> {
        let any: SocketAddr = match to {
            SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = Socket::bind(any, options)?;
        socket.socket.connect(&SockAddr::from(to))?;
        Ok(socket)
    }

    /// Its own address.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address
            .as_socket()
            .ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))
    }

    /// Accepts no more datagrams: senders are notified that no program listens. Datagrams that have arrived can still
    /// be received, and datagrams can be sent from the same address. A socket that is not bound to a particular address
    /// of the machine is not changed, because it would lose the choice of source addresses.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn refuse(&self) -> io::Result<()> {
        let own = self.local_address()?;
        match own.ip().is_unspecified() {
            true => Ok(()),
            // A connected socket takes datagrams of one sender alone: here, of itself.
            false => self.socket.connect(&SockAddr::from(own)),
        }
    }

    /// Maximum time of a blocking receive; for ever without a time.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Allows the kernel to return several datagrams of one sender together. A kernel without this feature returns each
/// separately, which is also correct.
fn join_received(socket: &socket2::Socket) {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int that lives through the call.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_UDP,
            libc::UDP_GRO,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        );
    }
}
