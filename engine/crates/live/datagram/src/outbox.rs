use crate::Socket;
use socket2::SockAddr;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

/// Maximum number of datagrams that the kernel segments from one message, in every version.
const SEGMENTS: usize = 64;

/// The longest datagram that is sent as a part of a longer message: one that fits every Ethernet, so that
/// it would not be fragmented.
const SEGMENT_BYTES: usize = 1432;

/// The longest message that is segmented.
const MESSAGE_BYTES: usize = 60_000;

/// Number of previous messages that are searched for one to the same address.
const LOOK_BACK: usize = 32;

/// Control data with the size into which a message is segmented.
const CONTROL_WORDS: usize = 4;

/// The result of sending an outbox.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sent {
    /// Datagrams that the kernel took.
    pub datagrams: u64,
    /// Dropped datagrams: its buffers are full, or there is no route to the address.
    pub dropped: u64,
    /// The other end of a connected socket reported that no program listens there.
    pub refused: bool,
}

/// Datagrams to be sent through one socket with as few calls as possible. Datagrams to one address stay in order.
#[derive(Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    items: Vec<Item>,
    messages: Vec<Message>,
    vectors: Vec<libc::iovec>,
    controls: Vec<[u64; CONTROL_WORDS]>,
    headers: Vec<libc::mmsghdr>,
    whole: bool,
}

// SAFETY: the pointers are made anew from what the outbox owns in every `flush`, and used only there.
unsafe impl Send for Outbox {}

struct Item {
    start: usize,
    length: usize,
    message: usize,
}

struct Message {
    to: Option<SocketAddr>,
    name: Option<SockAddr>,
    segment: usize,
    bytes: usize,
    count: usize,
    closed: bool,
}

impl Message {
    fn takes(&self, length: usize) -> bool {
        !self.closed
            && self.count < SEGMENTS
            && length <= self.segment
            && length > 0
            && self.bytes + length <= MESSAGE_BYTES
    }
}

impl Outbox {
    /// An empty one.
    pub fn new() -> Outbox {
        Outbox::default()
    }

    /// One that sends each datagram as a message of its own.
    pub fn without_segmentation() -> Outbox {
        Outbox {
            whole: true,
            ..Outbox::default()
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of its datagrams.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Adds a datagram with these parts, to an address, or to the peer of the socket.
    pub fn push(&mut self, to: Option<SocketAddr>, parts: &[&[u8]]) {
        let start = self.bytes.len();
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        let length = self.bytes.len() - start;
        let message = self.message_for(to, length);
        self.items.push(Item {
            start,
            length,
            message,
        });
    }

    fn message_for(&mut self, to: Option<SocketAddr>, length: usize) -> usize {
        let first = self.messages.len().saturating_sub(LOOK_BACK);
        let latest = (first..self.messages.len())
            .rev()
            .find(|at| self.messages[*at].to == to);
        if let Some(at) = latest.filter(|at| self.messages[*at].takes(length)) {
            let message = &mut self.messages[at];
            message.count += 1;
            message.bytes += length;
            // Only the last datagram of a message may be shorter than the others.
            message.closed = length < message.segment;
            return at;
        }
        self.messages.push(Message {
            to,
            name: to.map(SockAddr::from),
            segment: length,
            bytes: length,
            count: 1,
            closed: self.whole || length > SEGMENT_BYTES,
        });
        self.messages.len() - 1
    }

    /// Sends everything and is empty afterwards. Datagrams that the kernel refuses are dropped, as in a network.
    ///
    /// # Errors
    /// None for single datagrams; those of the socket itself.
    pub fn flush(&mut self, socket: &Socket) -> io::Result<Sent> {
        let mut sent = Sent::default();
        if self.items.is_empty() {
            return Ok(sent);
        }
        self.lay_out();
        let mut first = 0;
        let mut result = Ok(());
        while first < self.headers.len() {
            let left = &mut self.headers[first..];
            // SAFETY: the headers were made by `lay_out` and point to what this owns and does not change.
            let count = unsafe {
                libc::sendmmsg(
                    socket.as_raw_fd(),
                    left.as_mut_ptr(),
                    left.len() as _,
                    libc::MSG_DONTWAIT as _,
                )
            };
            if let Ok(count) = usize::try_from(count) {
                sent.datagrams += self.messages[first..first + count]
                    .iter()
                    .map(|message| message.count as u64)
                    .sum::<u64>();
                first += count;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // The answer to an earlier datagram; this one was not tried.
                Some(libc::ECONNREFUSED) => sent.refused = true,
                Some(libc::EBADF | libc::ENOTSOCK) => {
                    result = Err(error);
                    break;
                }
                // A device that cannot segment messages: from now on each datagram is sent separately.
                Some(libc::EIO | libc::EINVAL) if self.messages[first].count > 1 => {
                    self.whole = true;
                    self.send_one_by_one(socket, first, &mut sent);
                    first += 1;
                }
                _ => {
                    sent.dropped += self.messages[first].count as u64;
                    first += 1;
                }
            }
        }
        self.clear();
        result.map(|()| sent)
    }

    fn send_one_by_one(&self, socket: &Socket, message: usize, sent: &mut Sent) {
        let header = &self.headers[message].msg_hdr;
        for item in self.items.iter().filter(|item| item.message == message) {
            // SAFETY: the address lives in `messages`, the bytes in `bytes`.
            let taken = unsafe {
                libc::sendto(
                    socket.as_raw_fd(),
                    self.bytes[item.start..].as_ptr().cast(),
                    item.length,
                    libc::MSG_DONTWAIT,
                    header.msg_name.cast(),
                    header.msg_namelen,
                )
            };
            match taken < 0 {
                true => sent.dropped += 1,
                false => sent.datagrams += 1,
            }
        }
    }

    /// Empties it without sending.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        self.messages.clear();
        self.headers.clear();
    }

    /// Creates the kernel's structures: a header for each message, with its consecutive datagrams.
    fn lay_out(&mut self) {
        // SAFETY: these are plain numbers and pointers, for which zero is a value.
        let (vector, header): (libc::iovec, libc::mmsghdr) = unsafe { std::mem::zeroed() };
        self.vectors.clear();
        self.vectors.resize(self.items.len(), vector);
        self.controls.clear();
        self.controls.resize(self.messages.len(), [0; CONTROL_WORDS]);
        self.headers.clear();
        let mut next = 0;
        for (message, control) in self.messages.iter_mut().zip(&mut self.controls) {
            let mut header = header;
            if let Some(name) = &message.name {
                header.msg_hdr.msg_name = name.as_ptr().cast_mut().cast();
                header.msg_hdr.msg_namelen = name.len();
            }
            header.msg_hdr.msg_iov = &raw mut self.vectors[next];
            if message.count > 1 {
                cut_into(&mut header.msg_hdr, control, message.segment);
            }
            next += message.count;
            self.headers.push(header);
        }
        for item in &self.items {
            let header = &mut self.headers[item.message].msg_hdr;
            // SAFETY: a message has as many vectors as datagrams, and each datagram comes here once.
            unsafe {
                *header.msg_iov.add(header.msg_iovlen) = libc::iovec {
                    iov_base: self.bytes[item.start..].as_ptr().cast_mut().cast(),
                    iov_len: item.length,
                };
            }
            header.msg_iovlen += 1;
        }
    }
}

/// Adds the control data for segmentation into datagrams of this size.
fn cut_into(header: &mut libc::msghdr, control: &mut [u64; CONTROL_WORDS], segment: usize) {
    header.msg_control = (&raw mut *control).cast();
    // SAFETY: the control buffer has room for one message with a value of two bytes.
    unsafe {
        header.msg_controllen = libc::CMSG_SPACE(size_of::<u16>() as _) as _;
        let message = libc::CMSG_FIRSTHDR(header);
        (*message).cmsg_level = libc::SOL_UDP;
        (*message).cmsg_type = libc::UDP_SEGMENT;
        (*message).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as _) as _;
        libc::CMSG_DATA(message)
            .cast::<u16>()
            .write_unaligned(segment as u16);
    }
}
