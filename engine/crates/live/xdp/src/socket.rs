use crate::memory::{Mapping, CHUNK_BYTES};
use crate::ring::{Consumer, Producer};
use crate::XdpError;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// Frames that can wait to be received: a power of two. A thread that other work keeps from its processor for some
/// hundredths of a second loses none.
pub(crate) const FRAMES_IN: u32 = 8192;

/// Frames that can wait to be sent: a power of two.
pub(crate) const FRAMES_OUT: u32 = 4096;

/// Maximum number of bytes of frames that the kernel is sending.
const SEND_BYTES: libc::c_int = 4 << 20;

/// A socket of AF_XDP and the memory that it shares with the kernel: the first chunks for incoming frames, the others
/// for outgoing ones.
pub(crate) struct Socket {
    // Closed before its memory is released.
    descriptor: OwnedFd,
    memory: Mapping,
}

/// The four rings of a socket.
pub(crate) struct Rings {
    pub(crate) fill: Producer<u64>,
    pub(crate) received: Consumer<libc::xdp_desc>,
    pub(crate) sent: Producer<libc::xdp_desc>,
    pub(crate) completed: Consumer<u64>,
}

/// The kernel's counters of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Frames that were lost because they were not taken soon enough.
    pub lost: u64,
}

impl Socket {
    /// A socket with memory and rings, not bound yet.
    pub(crate) fn new() -> Result<(Arc<Socket>, Rings), XdpError> {
        // SAFETY: a call with numbers alone; the descriptor is ours when there is one.
        let descriptor = unsafe {
            match libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) {
                -1 => return Err(no_socket(io::Error::last_os_error())),
                socket => OwnedFd::from_raw_fd(socket),
            }
        };
        let bytes = (FRAMES_IN + FRAMES_OUT) as usize * CHUNK_BYTES;
        let memory = Mapping::new(bytes, None).map_err(|error| XdpError::of("mapping memory", error))?;
        let socket = Socket { descriptor, memory };
        socket.register().map_err(|error| match error.raw_os_error() {
            Some(libc::ENOBUFS) => XdpError::MemoryLimit { bytes },
            _ => XdpError::of("sharing memory with AF_XDP", error),
        })?;
        let rings = (socket.rings()).map_err(|error| XdpError::of("making rings of AF_XDP", error))?;
        // Best effort: with less, more frames are refused in bursts.
        let _ = socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BYTES);
        Ok((Arc::new(socket), rings))
    }

    fn set<T>(&self, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
        let bytes = size_of::<T>() as libc::socklen_t;
        let value = (&raw const *value).cast();
        // SAFETY: the value lives through the call.
        match unsafe { libc::setsockopt(self.descriptor.as_raw_fd(), level, name, value, bytes) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Fills in a value, as far as this kernel knows its members.
    fn get<T>(&self, name: libc::c_int, value: &mut T) -> io::Result<()> {
        let mut bytes = size_of::<T>() as libc::socklen_t;
        let value = (&raw mut *value).cast();
        // SAFETY: the value lives through the call, and the kernel writes so many bytes at most.
        match unsafe {
            libc::getsockopt(
                self.descriptor.as_raw_fd(),
                libc::SOL_XDP,
                name,
                value,
                &raw mut bytes,
            )
        } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn register(&self) -> io::Result<()> {
        // SAFETY: plain numbers, for which zero is a value.
        let mut memory: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
        memory.addr = self.memory.start().as_ptr() as u64;
        memory.len = self.memory.bytes() as u64;
        memory.chunk_size = CHUNK_BYTES as u32;
        self.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &memory)
    }

    fn rings(&self) -> io::Result<Rings> {
        for (ring, frames) in [
            (libc::XDP_UMEM_FILL_RING, FRAMES_IN),
            (libc::XDP_UMEM_COMPLETION_RING, FRAMES_OUT),
            (libc::XDP_RX_RING, FRAMES_IN),
            (libc::XDP_TX_RING, FRAMES_OUT),
        ] {
            self.set(libc::SOL_XDP, ring, &frames)?;
        }
        // SAFETY: plain numbers, for which zero is a value.
        let mut at: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
        self.get(libc::XDP_MMAP_OFFSETS, &mut at)?;
        let own = self.descriptor.as_raw_fd();
        let (fill, completed) = (
            libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t,
            libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t,
        );
        Ok(Rings {
            fill: Producer::map(own, fill, &at.fr, FRAMES_IN)?,
            completed: Consumer::map(own, completed, &at.cr, FRAMES_OUT)?,
            received: Consumer::map(own, libc::XDP_PGOFF_RX_RING, &at.rx, FRAMES_IN)?,
            sent: Producer::map(own, libc::XDP_PGOFF_TX_RING, &at.tx, FRAMES_OUT)?,
        })
    }

    /// Takes frames of a queue of an interface from now on.
    pub(crate) fn bind(&self, interface: u32, queue: u32, flags: u16) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: interface,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let bytes = size_of_val(&address) as libc::socklen_t;
        let address = (&raw const address).cast();
        // SAFETY: the address lives through the call.
        match unsafe { libc::bind(self.descriptor.as_raw_fd(), address, bytes) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn memory(&self) -> &Mapping {
        &self.memory
    }

    /// Whether the network card itself writes to the memory; otherwise the kernel copies.
    pub(crate) fn is_zero_copy(&self) -> bool {
        let mut options = libc::xdp_options { flags: 0 };
        self.get(libc::XDP_OPTIONS, &mut options).is_ok() && options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0
    }

    pub(crate) fn counts(&self) -> Counts {
        // SAFETY: plain numbers, for which zero is a value.
        let mut counted: libc::xdp_statistics = unsafe { std::mem::zeroed() };
        match self.get(libc::XDP_STATISTICS, &mut counted) {
            Ok(()) => Counts {
                lost: counted.rx_dropped + counted.rx_ring_full,
            },
            Err(_) => Counts::default(),
        }
    }

    /// Notifies the kernel of memory for reception.
    pub(crate) fn wake_receiver(&self) {
        // SAFETY: nothing is received by this call but attention.
        unsafe {
            let nothing = std::ptr::null_mut();
            libc::recv(self.descriptor.as_raw_fd(), nothing, 0, libc::MSG_DONTWAIT);
        }
    }

    /// Makes the kernel send the frames in the ring.
    pub(crate) fn wake_sender(&self) -> io::Result<()> {
        // SAFETY: nothing is sent by this call but what is in the ring.
        let result = unsafe {
            let nothing = std::ptr::null();
            libc::send(self.descriptor.as_raw_fd(), nothing, 0, libc::MSG_DONTWAIT)
        };
        match result {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn no_socket(error: io::Error) -> XdpError {
    match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => XdpError::NoAfXdp,
        _ => XdpError::of("making a socket of AF_XDP", error),
    }
}
