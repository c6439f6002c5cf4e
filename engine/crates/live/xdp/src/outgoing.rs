use crate::frame::{build, frame_bytes, Route, HEADER_BYTES};
use crate::memory::{CHUNK_BYTES, LONGEST_FRAME};
use crate::ring::{Consumer, Producer};
use crate::socket::{Socket, FRAMES_IN, FRAMES_OUT};
use std::io;
use std::sync::Arc;

/// Maximum number of system calls for sending the frames in the ring before they are left for the next time.
const ATTEMPTS: usize = 1 + FRAMES_OUT as usize / 16;

/// Bytes of Ethernet's header.
const ETHERNET: usize = 14;

/// Sending of frames through one queue.
pub struct Outgoing {
    sent: Producer<libc::xdp_desc>,
    completed: Consumer<u64>,
    /// Chunks that hold no frame.
    free: Vec<u64>,
    own: [u8; 6],
    longest: usize,
    /// Frames were queued that the kernel has not accepted.
    is_dirty: bool,
    is_zero_copy: bool,
    socket: Arc<Socket>,
}

impl Outgoing {
    /// For a socket that is bound.
    pub(crate) fn new(
        socket: Arc<Socket>,
        sent: Producer<libc::xdp_desc>,
        completed: Consumer<u64>,
        own: [u8; 6],
        mtu: usize,
    ) -> Outgoing {
        let chunks = u64::from(FRAMES_IN)..u64::from(FRAMES_IN + FRAMES_OUT);
        Outgoing {
            sent,
            completed,
            free: chunks.map(|chunk| chunk * CHUNK_BYTES as u64).collect(),
            own,
            longest: LONGEST_FRAME.min(mtu + ETHERNET),
            is_dirty: false,
            is_zero_copy: socket.is_zero_copy(),
            socket,
        }
    }

    /// Queues a datagram with these parts as a frame, to be sent with the next `flush`. False if it is too long for one
    /// frame, or if there is no room: nothing is queued then.
    pub fn push(&mut self, route: &Route, parts: &[&[u8]]) -> bool {
        let length = frame_bytes(parts.iter().map(|part| part.len()).sum());
        if length > self.longest {
            return false;
        }
        let Some(chunk) = self.chunk() else {
            return false;
        };
        let start = self.socket.memory().range(chunk, length);
        let start = start.expect("chunks are inside");
        // SAFETY: nobody else has this chunk until the kernel gets it.
        let frame = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), length) };
        let mut at = HEADER_BYTES;
        for part in parts {
            frame[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        build(frame, self.own, route);
        let descriptor = libc::xdp_desc {
            addr: chunk,
            len: length as u32,
            options: 0,
        };
        let is_put = self.sent.put(descriptor);
        match is_put {
            true => self.is_dirty = true,
            false => self.free.push(chunk),
        }
        is_put
    }

    /// A chunk without a frame.
    fn chunk(&mut self) -> Option<u64> {
        if self.free.is_empty() {
            while let Some(chunk) = self.completed.take() {
                self.free.push(chunk);
            }
            self.completed.release();
        }
        self.free.pop()
    }

    /// Whether the network card reads our memory itself; otherwise the kernel copies each frame.
    pub fn is_zero_copy(&self) -> bool {
        self.is_zero_copy
    }

    /// Whether frames wait for the next `flush`, because the kernel had no room for them or the interface is down.
    pub fn is_waiting(&self) -> bool {
        self.is_dirty
    }

    /// Sends queued frames, as far as the kernel accepts them. If it accepts none for a long time, `push` finds no
    /// room.
    pub fn flush(&mut self) {
        if !self.is_dirty {
            return;
        }
        self.sent.publish();
        if !self.sent.wants_waking() {
            self.is_dirty = false;
            return;
        }
        if self.is_zero_copy {
            // The network card takes them later.
            self.is_dirty = self.socket.wake_sender().is_err();
            return;
        }
        for _ in 0..ATTEMPTS {
            let result = self.socket.wake_sender();
            self.is_dirty = self.sent.is_waiting();
            let is_stuck = result.is_err_and(|error| !is_partial(&error));
            if !self.is_dirty || is_stuck {
                return;
            }
        }
    }
}

/// The kernel sends a few frames at a time, and reports this.
fn is_partial(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    matches!(code, Some(libc::EAGAIN | libc::EBUSY | libc::EINTR))
}
