use crate::error::MachineError;
use rackwright_cpu::SavedHart;
use rackwright_memory::{GuestMemory, PAGE_BYTES};
use rackwright_stats::Digest;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

/// What a checkpoint begins with.
const MAGIC: [u8; 8] = *b"RWLINUX\0";
/// Of the format: a file of another version is refused.
const VERSION: u32 = 4;
const PAGE: usize = PAGE_BYTES as usize;
const CHECKSUM: usize = 16;

/// The state of a machine without its memory.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedMachine {
    pub(crate) harts: Vec<(SavedHart, bool)>,
    pub(crate) bus: Vec<u8>,
    pub(crate) now: u64,
    pub(crate) turn: u64,
    pub(crate) end: u64,
}

/// Everything of a checkpoint that comes before the contents of pages.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) machine: SavedMachine,
    pub(crate) memory_bytes: u64,
    /// What tells the content that the disk had at the start from others, if there is a disk.
    pub(crate) disk: Option<u128>,
    /// What came out of the serial ports.
    pub(crate) sent: Vec<Vec<u8>>,
    /// Addresses of the pages that are not all zeros.
    pub(crate) pages: Vec<u64>,
}

/// Addresses of the pages from `base` on that are not all zeros.
pub(crate) fn used_pages(memory: &GuestMemory, base: u64) -> Vec<u64> {
    let mut content = [0; PAGE];
    let mut used =
        |address: &u64| memory.read(*address, &mut content).is_ok() && content.iter().any(|byte| *byte != 0);
    (base..memory.end())
        .step_by(PAGE)
        .filter(|address| used(address))
        .collect()
}

/// Writes a checkpoint: under another name first, so that nobody ever finds half of one.
pub(crate) fn write(path: &Path, head: &Head, memory: &GuestMemory) -> Result<(), MachineError> {
    let failed = |error| MachineError::Write {
        path: path.to_path_buf(),
        error,
    };
    let unfinished = path.with_extension(format!("unfinished-{}", std::process::id()));
    let written = write_all(&unfinished, head, memory).and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        // What could not be written can perhaps not be removed either; the error that matters is the first.
        let _ = std::fs::remove_file(&unfinished);
    }
    written.map_err(failed)
}

fn write_all(path: &Path, head: &Head, memory: &GuestMemory) -> std::io::Result<()> {
    let encoded = postcard::to_stdvec(head).expect("plain data can always be written to memory");
    let mut file = BufWriter::new(File::create(path)?);
    let mut digest = Digest::new();
    let mut put = |bytes: &[u8]| {
        digest.bytes(bytes);
        file.write_all(bytes)
    };
    put(&MAGIC)?;
    put(&VERSION.to_le_bytes())?;
    put(&(encoded.len() as u64).to_le_bytes())?;
    put(&encoded)?;
    let mut content = [0; PAGE];
    for page in &head.pages {
        memory.read(*page, &mut content).map_err(std::io::Error::other)?;
        put(&content)?;
    }
    file.write_all(&digest.value().to_le_bytes())?;
    file.into_inner()?.sync_all()
}

/// Reads a checkpoint: its head, and the contents of its pages.
pub(crate) fn read(path: &Path) -> Result<(Head, Vec<u8>), MachineError> {
    let mut file = Vec::new();
    let opened = File::open(path).and_then(|mut opened| opened.read_to_end(&mut file));
    opened.map_err(|error| MachineError::Read {
        path: path.to_path_buf(),
        error,
    })?;
    let refused = |reason| MachineError::Checkpoint {
        path: path.to_path_buf(),
        reason,
    };
    let body = file
        .strip_prefix(&MAGIC)
        .ok_or(refused("is no checkpoint of a booted machine"))?;
    let damaged = || refused("is damaged or incomplete");
    let (version, body) = body.split_first_chunk().ok_or_else(damaged)?;
    if u32::from_le_bytes(*version) != VERSION {
        return Err(refused("is a checkpoint of another version of Rackwright"));
    }
    let (content, checksum) = file.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
    let mut digest = Digest::new();
    digest.bytes(content);
    if digest.value().to_le_bytes() != *checksum {
        return Err(damaged());
    }
    let (length, body) = body.split_first_chunk().ok_or_else(damaged)?;
    let length = u64::from_le_bytes(*length) as usize;
    let head = body.get(..length).ok_or_else(damaged)?;
    let head: Head = postcard::from_bytes(head).map_err(|_| damaged())?;
    let pages = &body[length..body.len() - CHECKSUM];
    if pages.len() != head.pages.len() * PAGE {
        return Err(damaged());
    }
    let pages = pages.to_vec();
    Ok((head, pages))
}

/// Puts the pages of a checkpoint into memory.
pub(crate) fn load(head: &Head, pages: &[u8], memory: &mut GuestMemory) -> Result<(), MachineError> {
    for (address, content) in head.pages.iter().zip(pages.chunks_exact(PAGE)) {
        memory
            .load(*address, content)
            .map_err(rackwright_boot::BootError::from)?;
    }
    Ok(())
}
