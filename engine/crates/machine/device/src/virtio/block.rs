use crate::device::{decode, encode, RestoreError};
use crate::disk::{Disk, SECTOR};
use crate::ram::Ram;
use crate::virtio::chain::Chain;
use crate::virtio::fault::Fault;
use crate::virtio::transport::Model;
use rackwright_time::{Clock, Cycle, Picosecond};
use std::collections::BTreeMap;
use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_F_BLK_SIZE, VIRTIO_BLK_F_FLUSH, VIRTIO_BLK_F_SEG_MAX, VIRTIO_BLK_ID_BYTES, VIRTIO_BLK_S_IOERR,
    VIRTIO_BLK_S_OK, VIRTIO_BLK_S_UNSUPP, VIRTIO_BLK_T_FLUSH, VIRTIO_BLK_T_GET_ID, VIRTIO_BLK_T_IN,
    VIRTIO_BLK_T_OUT,
};
use virtio_bindings::virtio_ids::VIRTIO_ID_BLOCK;

/// Places of the one ring.
const PLACES: u16 = 128;
/// Bytes of the header of a request: type, a reserved word, and the first sector.
const HEADER: usize = 16;
/// Bytes moved at a time.
const PIECE: usize = 1 << 16;
/// The identifier of the disk.
const NAME: &[u8] = b"rackwright";

/// Until the first byte of a read, and until a write or a flush is done: 80 µs and 20 µs, and 3.2 GB/s. Set in the class
/// of disks of data centers on PCI Express; no disk was measured.
const READ: Picosecond = Picosecond(80_000_000);
const WRITE: Picosecond = Picosecond(20_000_000);
const PICOSECONDS_PER_8_BYTES: u64 = 2_500;

/// The block device (virtio 1.2, section 5.2).
pub struct Block {
    disk: Disk,
    /// By which cycles are counted.
    clock: Clock,
    /// Time at which the disk has completed all requests.
    free: Cycle,
    configuration: Vec<u8>,
}

/// The header of a request.
struct Header {
    kind: u32,
    sector: u64,
}

impl Block {
    /// A device with this content, beside harts of the clock `clock`.
    pub fn new(disk: Disk, clock: Clock) -> Block {
        let mut configuration = (disk.bytes() / SECTOR).to_le_bytes().to_vec();
        let (segment_bytes, segments, geometry) = (0, u32::from(PLACES) - 2, 0);
        for word in [segment_bytes, segments, geometry, SECTOR as u32] {
            configuration.extend(word.to_le_bytes());
        }
        Block {
            disk,
            clock,
            free: Cycle::ZERO,
            configuration,
        }
    }

    /// The range of the disk for a request of `bytes` bytes, if the disk has it.
    fn range(&self, header: &Header, bytes: u64) -> Option<u64> {
        let start = header.sector.checked_mul(SECTOR)?;
        let end = start.checked_add(bytes)?;
        (end <= self.disk.bytes() && bytes % SECTOR == 0).then_some(start)
    }

    /// Reads from the disk; the bytes written to memory, if that could be done.
    fn read(&self, chain: &Chain, header: &Header, ram: &mut Ram<'_>) -> Result<Option<u64>, Fault> {
        let bytes = chain.writable_bytes() - 1;
        let Some(start) = self.range(header, bytes) else {
            return Ok(None);
        };
        let mut piece = vec![0; PIECE.min(bytes as usize)];
        let mut done = 0;
        while done < bytes {
            let length = (bytes - done).min(PIECE as u64) as usize;
            if self.disk.read(start + done, &mut piece[..length]).is_err() {
                return Ok(None);
            }
            chain.write(ram, done, &piece[..length])?;
            done += length as u64;
        }
        Ok(Some(bytes))
    }

    /// Writes to the disk; returns whether that was possible.
    fn write(&mut self, chain: &Chain, header: &Header, ram: &Ram<'_>) -> Result<bool, Fault> {
        let bytes = chain.readable_bytes() - HEADER as u64;
        let Some(start) = self.range(header, bytes) else {
            return Ok(false);
        };
        let mut piece = vec![0; PIECE.min(bytes as usize)];
        let mut done = 0;
        while done < bytes {
            let length = (bytes - done).min(PIECE as u64) as usize;
            chain.read(ram, HEADER as u64 + done, &mut piece[..length])?;
            if self.disk.write(start + done, &piece[..length]).is_err() {
                return Ok(false);
            }
            done += length as u64;
        }
        Ok(true)
    }

    /// Returns the identifier of the disk.
    fn name(&self, chain: &Chain, ram: &mut Ram<'_>) -> Result<u64, Fault> {
        let mut name = [0; VIRTIO_BLK_ID_BYTES as usize];
        name[..NAME.len()].copy_from_slice(NAME);
        let room = (chain.writable_bytes() - 1).min(name.len() as u64) as usize;
        chain.write(ram, 0, &name[..room])?;
        Ok(room as u64)
    }
}

/// The request of `chain`.
fn header(chain: &Chain, ram: &Ram<'_>) -> Result<Header, Fault> {
    let mut bytes = [0; HEADER];
    if chain.read(ram, 0, &mut bytes)? < HEADER || chain.writable.is_empty() {
        return Err(Fault::Request);
    }
    let (kind, sector) = (&bytes[..4], &bytes[8..]);
    Ok(Header {
        kind: u32::from_le_bytes(kind.try_into().expect("four bytes")),
        sector: u64::from_le_bytes(sector.try_into().expect("eight bytes")),
    })
}

impl Model for Block {
    fn kind(&self) -> u32 {
        VIRTIO_ID_BLOCK
    }

    fn class(&self) -> u32 {
        // Mass storage of no particular kind.
        0x01_80_00
    }

    fn features(&self) -> u64 {
        1 << VIRTIO_BLK_F_SEG_MAX | 1 << VIRTIO_BLK_F_BLK_SIZE | 1 << VIRTIO_BLK_F_FLUSH
    }

    fn rings(&self) -> &[u16] {
        &[PLACES]
    }

    fn configuration(&self) -> &[u8] {
        &self.configuration
    }

    fn begin(&mut self, chain: &Chain, ram: &Ram<'_>, now: Cycle) -> Result<Cycle, Fault> {
        let header = header(chain, ram)?;
        let (latency, bytes) = match header.kind {
            VIRTIO_BLK_T_IN => (READ, chain.writable_bytes() - 1),
            VIRTIO_BLK_T_OUT => (WRITE, chain.readable_bytes() - HEADER as u64),
            _ => (WRITE, 0),
        };
        let moved = self.range(&header, bytes).map_or(0, |_| bytes);
        let moving = Picosecond(moved * PICOSECONDS_PER_8_BYTES / 8);
        let ready = now + self.clock.cycles_of(latency);
        self.free = ready.max(self.free) + self.clock.cycles_of(moving);
        Ok(self.free)
    }

    fn perform(&mut self, chain: &Chain, ram: &mut Ram<'_>) -> Result<u32, Fault> {
        let header = header(chain, ram)?;
        let (status, written) = match header.kind {
            VIRTIO_BLK_T_IN => match self.read(chain, &header, ram)? {
                Some(written) => (VIRTIO_BLK_S_OK, written),
                None => (VIRTIO_BLK_S_IOERR, 0),
            },
            VIRTIO_BLK_T_OUT if self.write(chain, &header, ram)? => (VIRTIO_BLK_S_OK, 0),
            VIRTIO_BLK_T_OUT => (VIRTIO_BLK_S_IOERR, 0),
            // Writes are always stored immediately.
            VIRTIO_BLK_T_FLUSH => (VIRTIO_BLK_S_OK, 0),
            VIRTIO_BLK_T_GET_ID => (VIRTIO_BLK_S_OK, self.name(chain, ram)?),
            _ => (VIRTIO_BLK_S_UNSUPP, 0),
        };
        chain.write(ram, chain.writable_bytes() - 1, &[status as u8])?;
        Ok(written as u32 + 1)
    }

    fn save(&self) -> Vec<u8> {
        encode(&(self.disk.digest(), self.free.0, self.disk.written()))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "disk";
        let (digest, free, written): (u128, u64, BTreeMap<u64, Vec<u8>>) = decode(state, device)?;
        if digest != self.disk.digest() || !self.disk.set_written(written) {
            return Err(RestoreError { device });
        }
        self.free = Cycle::new(free);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtio::chain::Segment;
    use rackwright_memory::GuestMemory;

    const BASE: u64 = 0x1000;
    const DATA: u64 = 0x2000;
    const STATUS: u64 = 0x1800;
    const SECTORS: u64 = 9;

    /// A file that is removed with the disk.
    fn disk() -> Disk {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rackwright-disk-{}-{number}", std::process::id()));
        let content: Vec<u8> = (0..SECTORS * SECTOR).map(|byte| (byte / SECTOR) as u8).collect();
        std::fs::write(&path, content).unwrap();
        let disk = Disk::open(&path);
        std::fs::remove_file(&path).unwrap();
        disk.unwrap()
    }

    fn clock() -> Clock {
        Clock::new(2_000_000_000).unwrap()
    }

    struct Host {
        block: Block,
        memory: GuestMemory,
    }

    impl Host {
        fn new() -> Host {
            let mut memory = GuestMemory::new(0x10_0000).unwrap();
            memory.allow_all();
            let block = Block::new(disk(), clock());
            Host { block, memory }
        }

        /// Status and bytes written for a request; the buffer is written by the device with `IN`.
        fn request(&mut self, kind: u32, sector: u64, bytes: u32) -> (u8, u32) {
            self.memory.write(BASE, &kind.to_le_bytes()).unwrap();
            self.memory.write(BASE + 8, &sector.to_le_bytes()).unwrap();
            self.memory.write(STATUS, &[0xff]).unwrap();
            let segment = |address, bytes| Segment { address, bytes };
            let mut chain = Chain {
                head: 0,
                readable: vec![segment(BASE, 5), segment(BASE + 5, 11)],
                writable: Vec::new(),
            };
            if kind == VIRTIO_BLK_T_OUT {
                chain.readable.push(segment(DATA, bytes));
            } else if bytes > 0 {
                chain.writable.push(segment(DATA, bytes));
            }
            chain.writable.push(segment(STATUS, 1));
            let mut ram = Ram::new(&mut self.memory, BASE);
            self.block.begin(&chain, &ram, Cycle::ZERO).unwrap();
            let written = self.block.perform(&chain, &mut ram).unwrap();
            let mut status = [0];
            ram.fetch(STATUS, &mut status).unwrap();
            (status[0], written)
        }

        fn data(&self, at: u64) -> u8 {
            let mut byte = [0];
            self.memory.read(DATA + at, &mut byte).unwrap();
            byte[0]
        }
    }

    #[test]
    fn what_was_written_is_read_again_and_the_rest_is_the_file() {
        let mut host = Host::new();
        host.memory.write(DATA, &[0xaa; 1024]).unwrap();
        assert_eq!(host.request(VIRTIO_BLK_T_OUT, 7, 1024), (0, 1));
        assert_eq!(host.request(VIRTIO_BLK_T_IN, 0, 9 * 512), (0, 9 * 512 + 1));
        let shown: Vec<u8> = (0..9).map(|sector| host.data(sector * 512 + 511)).collect();
        assert_eq!(shown, [0, 1, 2, 3, 4, 5, 6, 0xaa, 0xaa]);
        let mut other = Block::new(disk(), clock());
        other.restore(&host.block.save()).unwrap();
        assert_eq!(other.save(), host.block.save());
        assert!(other.restore(&[0; 20]).is_err());
    }

    #[test]
    fn requests_that_the_disk_cannot_serve_end_with_a_status() {
        let mut host = Host::new();
        let error = (VIRTIO_BLK_S_IOERR as u8, 1);
        for kind in [VIRTIO_BLK_T_IN, VIRTIO_BLK_T_OUT] {
            for (sector, bytes) in [
                (SECTORS, 512),
                (SECTORS - 1, 1024),
                (u64::MAX, 512),
                (1 << 55, 512),
                (0, 100),
            ] {
                assert_eq!(
                    host.request(kind, sector, bytes),
                    error,
                    "{kind} {sector:#x} {bytes}"
                );
            }
        }
        assert_eq!(host.data(0), 0);
        assert!(host.block.disk.written().is_empty());
        assert_eq!(host.request(11, 0, 512), (VIRTIO_BLK_S_UNSUPP as u8, 1));
        assert_eq!(host.request(VIRTIO_BLK_T_FLUSH, 0, 0), (0, 1));
        assert_eq!(host.request(VIRTIO_BLK_T_GET_ID, 0, 20), (0, 21));
        assert_eq!(host.data(0), b'r');
    }

    #[test]
    fn requests_without_a_header_or_a_status_are_no_requests() {
        let mut host = Host::new();
        let segment = |address, bytes| Segment { address, bytes };
        let (head, short, status) = (segment(BASE, 16), segment(BASE, 15), segment(STATUS, 1));
        for (readable, writable) in [
            (vec![short], vec![status]),
            (vec![head], vec![]),
            (vec![], vec![status]),
        ] {
            let chain = Chain {
                head: 0,
                readable,
                writable,
            };
            let mut ram = Ram::new(&mut host.memory, BASE);
            assert_eq!(host.block.begin(&chain, &ram, Cycle::ZERO), Err(Fault::Request));
            assert_eq!(host.block.perform(&chain, &mut ram), Err(Fault::Request));
        }
    }

    #[test]
    fn bytes_take_their_time_one_request_after_the_other() {
        let mut host = Host::new();
        host.request(VIRTIO_BLK_T_IN, 0, 4096);
        let first = host.block.free;
        assert_eq!(first, clock().cycle_at(Picosecond(READ.0 + 1_280_000)));
        host.request(VIRTIO_BLK_T_OUT, 0, 512);
        assert_eq!(host.block.free, first + clock().cycles_of(Picosecond(160_000)));
    }
}
