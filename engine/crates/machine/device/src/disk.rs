use rackwright_stats::Digest;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of the smallest part of a disk that can be read or written.
pub const SECTOR: u64 = 512;
/// Size of the blocks in which writes are stored.
const BLOCK: u64 = 4096;
/// Bytes read at a time for the digest.
const PIECE: usize = 1 << 20;

/// The contents of a disk: a file, which is not changed, and later writes, in memory.
///
/// The file must not change while it is in use.
pub struct Disk {
    file: File,
    bytes: u64,
    digest: u128,
    /// Whole blocks, by number.
    written: BTreeMap<u64, Vec<u8>>,
}

/// Why a file cannot be a disk.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// It cannot be read.
    #[error("cannot read the disk {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the host.
        error: io::Error,
    },
    /// It is empty, or does not end with a sector.
    #[error("{} has {bytes} bytes; a disk has a multiple of {SECTOR}, and some", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
    },
}

impl Disk {
    /// A disk with the contents of the file at `path`, which is read completely once.
    ///
    /// # Errors
    /// [`DiskError`] if the file cannot be read, or does not consist of whole sectors.
    pub fn open(path: &Path) -> Result<Disk, DiskError> {
        let failed = |error| DiskError::Read {
            path: path.to_path_buf(),
            error,
        };
        let file = File::open(path).map_err(failed)?;
        let (bytes, digest) = content(&file).map_err(failed)?;
        if bytes == 0 || bytes % SECTOR != 0 {
            return Err(DiskError::Size {
                path: path.to_path_buf(),
                bytes,
            });
        }
        Ok(Disk {
            file,
            bytes,
            digest,
            written: BTreeMap::new(),
        })
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The hash of its file's contents.
    pub fn digest(&self) -> u128 {
        self.digest
    }

    /// Reads the bytes from `offset` on, which must be within the disk.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            let (block, start) = place(offset + done as u64);
            let length = (BLOCK as usize - start).min(into.len() - done);
            let piece = &mut into[done..done + length];
            match self.written.get(&block) {
                Some(written) => piece.copy_from_slice(&written[start..start + length]),
                None => self.file.read_exact_at(piece, offset + done as u64)?,
            }
            done += length;
        }
        Ok(())
    }

    /// Writes the bytes from `offset` on, which must be within the disk.
    pub(crate) fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < from.len() {
            let (block, start) = place(offset + done as u64);
            let length = (BLOCK as usize - start).min(from.len() - done);
            let written = self.block(block)?;
            written[start..start + length].copy_from_slice(&from[done..done + length]);
            done += length;
        }
        Ok(())
    }

    /// A block to write to.
    fn block(&mut self, number: u64) -> io::Result<&mut Vec<u8>> {
        use std::collections::btree_map::Entry;
        match self.written.entry(number) {
            Entry::Occupied(found) => Ok(found.into_mut()),
            Entry::Vacant(free) => {
                let mut content = vec![0; BLOCK as usize];
                let start = number * BLOCK;
                let there = (self.bytes - start).min(BLOCK) as usize;
                self.file.read_exact_at(&mut content[..there], start)?;
                Ok(free.insert(content))
            }
        }
    }

    /// What was written.
    pub(crate) fn written(&self) -> &BTreeMap<u64, Vec<u8>> {
        &self.written
    }

    /// Restores the writes to a disk with the same contents; returns whether they are valid.
    pub(crate) fn set_written(&mut self, written: BTreeMap<u64, Vec<u8>>) -> bool {
        let fits = |(number, content): (&u64, &Vec<u8>)| {
            *number < self.bytes.div_ceil(BLOCK) && content.len() as u64 == BLOCK
        };
        let possible = written.iter().all(fits);
        if possible {
            self.written = written;
        }
        possible
    }
}

/// The block of a byte, and the byte's offset in it.
fn place(offset: u64) -> (u64, usize) {
    (offset / BLOCK, (offset % BLOCK) as usize)
}

/// Bytes and digest of a file.
fn content(file: &File) -> io::Result<(u64, u128)> {
    let mut digest = Digest::new();
    let mut piece = vec![0; PIECE];
    let mut bytes = 0;
    loop {
        let read = file.read_at(&mut piece, bytes)?;
        if read == 0 {
            return Ok((bytes, digest.value()));
        }
        digest.bytes(&piece[..read]);
        bytes += read as u64;
    }
}
