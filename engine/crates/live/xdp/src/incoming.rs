use crate::frame::{parse, Arrived, Malformed};
use crate::memory::CHUNK_BYTES;
use crate::ring::{Consumer, Producer};
use crate::socket::{Socket, FRAMES_IN};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Frames taken at once.
const BATCH: usize = 64;

/// The reception of the frames of one queue.
pub struct Incoming {
    received: Consumer<libc::xdp_desc>,
    fill: Producer<u64>,
    batch: Vec<libc::xdp_desc>,
    socket: Arc<Socket>,
}

impl Incoming {
    pub(crate) fn new(
        socket: Arc<Socket>,
        received: Consumer<libc::xdp_desc>,
        mut fill: Producer<u64>,
    ) -> Incoming {
        (0..FRAMES_IN).for_each(|chunk| {
            fill.put(u64::from(chunk) * CHUNK_BYTES as u64);
        });
        fill.publish();
        Incoming {
            received,
            fill,
            batch: Vec::with_capacity(BATCH),
            socket,
        }
    }

    /// Whether frames are available, without a system call.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.received.is_ready()
    }

    /// Takes the available frames, replacing those taken before; returns their number.
    pub fn receive(&mut self) -> usize {
        self.give_back();
        while self.batch.len() < BATCH {
            match self.received.take() {
                Some(descriptor) => self.batch.push(descriptor),
                None => break,
            }
        }
        self.received.release();
        self.batch.len()
    }

    /// Returns the memory of taken frames to the kernel.
    fn give_back(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        for descriptor in self.batch.drain(..) {
            // There is room: there are as many places as chunks.
            self.fill.put(descriptor.addr & !(CHUNK_BYTES as u64 - 1));
        }
        self.fill.publish();
        if self.fill.wants_waking() {
            self.socket.wake_receiver();
        }
    }

    /// Whether more frames may be there than were taken last.
    pub fn is_full(&self) -> bool {
        self.batch.len() == BATCH
    }

    /// The datagrams taken last, in order.
    pub fn datagrams(&self) -> impl Iterator<Item = Result<Arrived<'_>, Malformed>> {
        self.batch.iter().map(|descriptor| {
            let bytes = descriptor.len as usize;
            let start = self.socket.memory().range(descriptor.addr, bytes);
            // SAFETY: the kernel gave this memory to us with this frame in it, until it is given back.
            let frame = start.map(|start| unsafe { std::slice::from_raw_parts(start.as_ptr(), bytes) });
            frame.map_or(Err(Malformed), parse)
        })
    }
}

impl AsFd for Incoming {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
