use crate::ram::Ram;
use crate::virtio::fault::Fault;
use serde::{Deserialize, Serialize};
use virtio_queue::desc::split::Descriptor;
use virtio_queue::DescriptorChain;

/// A range of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// First address.
    pub address: u64,
    /// Number of bytes; never zero.
    pub bytes: u32,
}

/// The buffers of one request: all of them lie in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Chain {
    /// The driver's identifier of it.
    pub head: u16,
    /// Buffers that the device may read.
    pub readable: Vec<Segment>,
    /// Buffers that the device may write.
    pub writable: Vec<Segment>,
}

impl Chain {
    /// Follows a chain of at most `most` descriptors.
    pub(crate) fn follow(chain: DescriptorChain<&Ram<'_>>, most: u16) -> Result<Chain, Fault> {
        let ram = chain.memory();
        let mut found = Chain {
            head: chain.head_index(),
            readable: Vec::new(),
            writable: Vec::new(),
        };
        let mut complete = false;
        // The iterator ends silently at an invalid chain: the last descriptor then refers to another one.
        for descriptor in chain.clone().take(most.into()) {
            found.add(ram, &descriptor)?;
            complete = !descriptor.has_next();
        }
        if complete {
            Ok(found)
        } else {
            Err(Fault::Chain)
        }
    }

    fn add(&mut self, ram: &Ram<'_>, descriptor: &Descriptor) -> Result<(), Fault> {
        let segment = Segment {
            address: descriptor.addr().0,
            bytes: descriptor.len(),
        };
        if segment.bytes == 0 {
            return Err(Fault::Length);
        }
        if !ram.holds(segment.address, segment.bytes.into()) {
            return Err(Fault::Address);
        }
        if descriptor.is_write_only() {
            self.writable.push(segment);
        } else if self.writable.is_empty() {
            self.readable.push(segment);
        } else {
            return Err(Fault::Order);
        }
        Ok(())
    }

    /// Bytes that the device may read.
    pub fn readable_bytes(&self) -> u64 {
        total(&self.readable)
    }

    /// Bytes that the device may write.
    pub fn writable_bytes(&self) -> u64 {
        total(&self.writable)
    }

    /// Copies readable bytes, from byte `skip` on, into `into`, and returns their number.
    ///
    /// # Errors
    /// Never for a chain that was taken from a ring of the same memory.
    pub fn read(&self, ram: &Ram<'_>, skip: u64, into: &mut [u8]) -> Result<usize, Fault> {
        let mut done = 0;
        for piece in pieces(&self.readable, skip, into.len()) {
            let bytes = piece.bytes as usize;
            ram.fetch(piece.address, &mut into[done..done + bytes])?;
            done += bytes;
        }
        Ok(done)
    }

    /// Copies `from` to writable bytes, from byte `skip` on, and returns the number of bytes with room.
    ///
    /// # Errors
    /// Never for a chain that was taken from a ring of the same memory.
    pub fn write(&self, ram: &mut Ram<'_>, skip: u64, from: &[u8]) -> Result<usize, Fault> {
        let mut done = 0;
        for piece in pieces(&self.writable, skip, from.len()) {
            let bytes = piece.bytes as usize;
            ram.put(piece.address, &from[done..done + bytes])?;
            done += bytes;
        }
        Ok(done)
    }
}

fn total(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| u64::from(segment.bytes)).sum()
}

/// The parts of `segments` with up to `bytes` bytes after the first `skip`.
fn pieces(segments: &[Segment], skip: u64, bytes: usize) -> impl Iterator<Item = Segment> + '_ {
    let mut skip = skip;
    let mut left = bytes as u64;
    segments.iter().filter_map(move |segment| {
        let all = u64::from(segment.bytes);
        let start = skip.min(all);
        skip -= start;
        let taken = left.min(all - start);
        left -= taken;
        (taken > 0).then_some(Segment {
            address: segment.address + start,
            bytes: taken as u32,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_memory::GuestMemory;

    #[test]
    fn requests_are_read_and_written_across_buffers() {
        let mut memory = GuestMemory::new(0x2000).unwrap();
        memory.allow_all();
        memory.write(0x1000, b"abcdefgh").unwrap();
        let mut ram = Ram::new(&mut memory, 0x1000);
        let segment = |address, bytes| Segment { address, bytes };
        let chain = Chain {
            head: 0,
            readable: vec![segment(0x1004, 2), segment(0x1000, 3)],
            writable: vec![segment(0x1800, 1), segment(0x1810, 4)],
        };
        assert_eq!((chain.readable_bytes(), chain.writable_bytes()), (5, 5));
        let mut read = [0; 8];
        assert_eq!(chain.read(&ram, 1, &mut read).unwrap(), 4);
        assert_eq!(&read, b"fabc\0\0\0\0");
        assert_eq!(chain.read(&ram, 5, &mut read).unwrap(), 0);
        assert_eq!(chain.write(&mut ram, 0, b"uvwxyz").unwrap(), 5);
        assert_eq!(chain.write(&mut ram, 4, b"!").unwrap(), 1);
        ram.fetch(0x1800, &mut read[..1]).unwrap();
        ram.fetch(0x1810, &mut read[1..6]).unwrap();
        assert_eq!(&read[..6], b"uvwx!\0");
    }
}
