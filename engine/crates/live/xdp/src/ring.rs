//! Rings with one producer and one consumer, one of which is the kernel (its documentation, "AF_XDP").

use crate::memory::Mapping;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mapped ring.
struct Ring<T> {
    /// Owns the memory of the pointers.
    _mapping: Mapping,
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    mask: u32,
}

// SAFETY: the pointers lead into the mapping, which the ring owns.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    fn map(
        descriptor: i32,
        at: libc::off_t,
        offsets: &libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Ring<T>> {
        let entries = offsets.desc as usize;
        let bytes = entries + size as usize * size_of::<T>();
        let mapping = Mapping::new(bytes, Some((descriptor, at)))?;
        let start = mapping.start();
        // SAFETY: the kernel says where these are in the memory that it maps, and aligns them.
        unsafe {
            Ok(Ring {
                producer: start.add(offsets.producer as usize).cast(),
                consumer: start.add(offsets.consumer as usize).cast(),
                flags: start.add(offsets.flags as usize).cast(),
                entries: start.add(entries).cast(),
                mask: size - 1,
                _mapping: mapping,
            })
        }
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: it leads into the mapping; the kernel accesses it atomically too.
        unsafe { self.producer.as_ref() }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { self.consumer.as_ref() }
    }

    fn wants_waking(&self) -> bool {
        // SAFETY: as above.
        let flags = unsafe { self.flags.as_ref() };
        flags.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn entry(&self, at: u32) -> NonNull<T> {
        // SAFETY: the mask keeps it inside of the mapping.
        unsafe { self.entries.add((at & self.mask) as usize) }
    }
}

/// The end at which entries are added.
pub(crate) struct Producer<T> {
    ring: Ring<T>,
    /// Number of entries added since the beginning, modulo 2^32.
    put: u32,
    /// Number of consumed entries at the last check.
    taken: u32,
}

impl<T: Copy> Producer<T> {
    /// Maps a ring with room for `size` entries, a power of two.
    pub(crate) fn map(
        descriptor: i32,
        at: libc::off_t,
        offsets: &libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Producer<T>> {
        Ok(Producer {
            ring: Ring::map(descriptor, at, offsets, size)?,
            put: 0,
            taken: 0,
        })
    }

    /// Adds an entry, which the other end sees after `publish`; returns whether there was room.
    #[inline]
    pub(crate) fn put(&mut self, entry: T) -> bool {
        if self.put.wrapping_sub(self.taken) > self.ring.mask {
            self.taken = self.ring.consumer().load(Ordering::Acquire);
            if self.put.wrapping_sub(self.taken) > self.ring.mask {
                return false;
            }
        }
        // SAFETY: the other end does not look at entries that were not published.
        unsafe { self.ring.entry(self.put).write(entry) };
        self.put = self.put.wrapping_add(1);
        true
    }

    /// Makes added entries visible to the other end.
    #[inline]
    pub(crate) fn publish(&self) {
        self.ring.producer().store(self.put, Ordering::Release);
    }

    /// Whether the other end has not taken all yet.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.ring.consumer().load(Ordering::Acquire) != self.put
    }

    /// Whether the kernel sleeps until it is called.
    #[inline]
    pub(crate) fn wants_waking(&self) -> bool {
        self.ring.wants_waking()
    }
}

/// The end at which entries are taken.
pub(crate) struct Consumer<T> {
    ring: Ring<T>,
    taken: u32,
    /// Number of added entries at the last check.
    put: u32,
}

impl<T: Copy> Consumer<T> {
    /// Maps a ring with room for `size` entries, a power of two.
    pub(crate) fn map(
        descriptor: i32,
        at: libc::off_t,
        offsets: &libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Consumer<T>> {
        Ok(Consumer {
            ring: Ring::map(descriptor, at, offsets, size)?,
            taken: 0,
            put: 0,
        })
    }

    /// Whether there is an entry.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.put != self.taken || self.ring.producer().load(Ordering::Relaxed) != self.taken
    }

    /// Takes an entry if there is one. Its place is free for the other end after `release`.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        if self.put == self.taken {
            self.put = self.ring.producer().load(Ordering::Acquire);
            if self.put == self.taken {
                return None;
            }
        }
        // SAFETY: the other end has written it, and leaves it alone until it is released.
        let entry = unsafe { self.ring.entry(self.taken).read() };
        self.taken = self.taken.wrapping_add(1);
        Some(entry)
    }

    /// Allows the other end to reuse the places of taken entries.
    #[inline]
    pub(crate) fn release(&self) {
        self.ring.consumer().store(self.taken, Ordering::Release);
    }
}
