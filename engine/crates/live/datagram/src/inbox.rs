use crate::Socket;
use socket2::SockAddr;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

/// Room for the longest message into which the kernel joins datagrams.
const MESSAGE_BYTES: usize = 1 << 16;

/// Room for control data of a message: the size of the datagrams in it.
const CONTROL_WORDS: usize = 8;

/// A datagram as received.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Its contents.
    pub bytes: &'a [u8],
}

/// Buffers for received datagrams.
pub struct Inbox {
    /// The kernel writes to these by the pointers in `headers`; they never move.
    buffers: Box<[u8]>,
    names: Box<[libc::sockaddr_storage]>,
    #[expect(dead_code, reason = "the headers point to these")]
    controls: Box<[[u64; CONTROL_WORDS]]>,
    #[expect(dead_code, reason = "the headers point to these")]
    vectors: Box<[libc::iovec]>,
    headers: Box<[libc::mmsghdr]>,
    filled: usize,
}

// SAFETY: the pointers lead to boxes that the inbox itself owns.
unsafe impl Send for Inbox {}

impl Inbox {
    /// An inbox for `messages` messages at a time.
    pub fn new(messages: usize) -> Inbox {
        let mut buffers = vec![0; messages * MESSAGE_BYTES].into_boxed_slice();
        // SAFETY: all of these are plain numbers and pointers, for which zero is a value.
        let mut names: Box<[libc::sockaddr_storage]> =
            vec![unsafe { std::mem::zeroed() }; messages].into_boxed_slice();
        let mut controls = vec![[0; CONTROL_WORDS]; messages].into_boxed_slice();
        let mut vectors: Box<[libc::iovec]> = (buffers.chunks_exact_mut(MESSAGE_BYTES))
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: buffer.len(),
            })
            .collect();
        let headers = (0..messages)
            .map(|at| {
                // SAFETY: as above.
                let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
                header.msg_hdr.msg_name = (&raw mut names[at]).cast();
                header.msg_hdr.msg_iov = &raw mut vectors[at];
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_control = (&raw mut controls[at]).cast();
                header
            })
            .collect();
        Inbox {
            buffers,
            names,
            controls,
            vectors,
            headers,
            filled: 0,
        }
    }

    /// Receives available messages, replacing those received before, and returns their number, each with one or more
    /// datagrams: zero if there are none. On a blocking socket it waits for the first.
    ///
    /// # Errors
    /// The error of the kernel; on a connected socket, also that no program listens at the other end.
    pub fn receive(&mut self, socket: &Socket) -> io::Result<usize> {
        self.receive_with(socket, libc::MSG_WAITFORONE)
    }

    /// The same, without waiting on any socket.
    ///
    /// # Errors
    /// As [`Inbox::receive`].
    pub fn try_receive(&mut self, socket: &Socket) -> io::Result<usize> {
        self.receive_with(socket, libc::MSG_DONTWAIT)
    }

    fn receive_with(&mut self, socket: &Socket, flags: libc::c_int) -> io::Result<usize> {
        self.filled = 0;
        for header in &mut self.headers {
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_hdr.msg_controllen = size_of::<[u64; CONTROL_WORDS]>() as _;
            header.msg_hdr.msg_flags = 0;
        }
        let count = self.headers.len() as libc::c_uint;
        // SAFETY: the headers point to buffers of the lengths that they say, which this owns.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        match usize::try_from(received) {
            Ok(received) => self.filled = received,
            Err(_) => {
                let error = io::Error::last_os_error();
                if !matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::TimedOut
                ) {
                    return Err(error);
                }
            }
        }
        Ok(self.filled)
    }

    /// Whether as much was received as there is room for, so that there may be more.
    pub fn is_full(&self) -> bool {
        self.filled == self.headers.len()
    }

    /// The datagrams received last, in order.
    pub fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        (0..self.filled).flat_map(move |at| {
            let length = (self.headers[at].msg_len as usize).min(MESSAGE_BYTES);
            let bytes = &self.buffers[at * MESSAGE_BYTES..][..length];
            let joined = joined_size(&self.headers[at].msg_hdr).unwrap_or(length).max(1);
            let from = self.sender(at);
            // A datagram may be empty; joined datagrams never are.
            let empty = length == 0;
            let datagrams = bytes.chunks(joined).chain(empty.then_some(bytes));
            from.into_iter()
                .flat_map(move |from| datagrams.clone().map(move |bytes| Datagram { from, bytes }))
        })
    }

    fn sender(&self, at: usize) -> Option<SocketAddr> {
        let length = self.headers[at].msg_hdr.msg_namelen;
        // SAFETY: the kernel has written an address of this length; both are copied.
        unsafe { SockAddr::new(std::mem::transmute_copy(&self.names[at]), length as _) }.as_socket()
    }
}

/// The size of the datagrams that a message was joined from, if it was.
fn joined_size(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: the kernel has filled the control buffer, whose length is in the header, and the macros
    // stay inside it; the value of this option is an int.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(header);
        while let Some(message) = control.as_ref() {
            if message.cmsg_level == libc::SOL_UDP && message.cmsg_type == libc::UDP_GRO {
                let size = libc::CMSG_DATA(control).cast::<libc::c_int>().read_unaligned();
                return usize::try_from(size).ok();
            }
            control = libc::CMSG_NXTHDR(header, control);
        }
    }
    None
}
