use crate::error::MachineError;
use crate::parameters::Interrupts;
use rackwright_cpu::SavedHart;
use rackwright_device::Map;
use rackwright_memory::{Contents, GuestMemory, Protection, PAGE_BYTES};
use rackwright_stats::Digest;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"RWLINUX\0";
/// Of the format: a file of another version is refused.
const VERSION: u32 = 10;
const PAGE: usize = PAGE_BYTES as usize;
const CHECKSUM: usize = 16;

/// The state of a machine without its memory.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedMachine {
    pub(crate) harts: Vec<(SavedHart, bool)>,
    /// By hart: others may have written memory since it ran.
    pub(crate) others_ran: Vec<bool>,
    pub(crate) bus: Vec<u8>,
    pub(crate) now: u64,
    pub(crate) turn: u64,
    pub(crate) end: u64,
}

/// The caches and pipelines of timed harts.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedTiming {
    /// The model of the harts, with the parameters: harts with others start with empty ones.
    pub(crate) of: String,
    pub(crate) state: Vec<u8>,
}

/// All data of a checkpoint that precede the contents of pages.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) machine: SavedMachine,
    pub(crate) timing: Option<SavedTiming>,
    pub(crate) memory_bytes: u64,
    /// The clock of harts, from which the guest has its time.
    pub(crate) clock_hz: u64,
    /// Number of cycles per tick of that time.
    pub(crate) tick_cycles: u64,
    /// Whether it has the Advanced Interrupt Architecture in place of a PLIC.
    pub(crate) has_aia: bool,
    /// The hash of the disk's initial contents, if there is a disk.
    pub(crate) disk: Option<u128>,
    /// The state behind the PCI host bridge, if there are buses.
    pub(crate) tree: Option<Vec<u8>>,
    /// The output of the serial ports.
    pub(crate) sent: Vec<Vec<u8>>,
    /// Addresses of the pages that are not all zeros.
    pub(crate) pages: Vec<u64>,
}

impl Head {
    /// Its interrupt controllers.
    pub(crate) fn interrupts(&self) -> Interrupts {
        if self.has_aia {
            Interrupts::Aia
        } else {
            Interrupts::Plic
        }
    }
}

/// Writes a checkpoint: first under another name, so that an incomplete one is never found.
pub(crate) fn write(path: &Path, head: &Head, memory: &GuestMemory) -> Result<(), MachineError> {
    let failed = |error| MachineError::Write {
        path: path.to_path_buf(),
        error,
    };
    let unfinished = path.with_extension(format!("unfinished-{}", std::process::id()));
    let written = write_all(&unfinished, head, memory).and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        // A file that could not be written can perhaps not be removed either; the first error is the one to report.
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

/// The saved state of a booted guest: any number of machines continue from it, and share memory that they have not
/// written.
pub struct Checkpoint {
    pub(crate) path: PathBuf,
    pub(crate) head: Head,
    memory: Contents,
}

impl Checkpoint {
    /// Reads the file that [`Guest::save`](crate::Guest::save) has written.
    ///
    /// # Errors
    /// [`MachineError`] when it is no such file, or is damaged.
    pub fn read(path: &Path) -> Result<Checkpoint, MachineError> {
        let failed = |error| MachineError::Read {
            path: path.to_path_buf(),
            error,
        };
        let refused = |reason| MachineError::Checkpoint {
            path: path.to_path_buf(),
            reason,
        };
        let file = std::fs::read(path).map_err(failed)?;
        let (head, pages) = parts(&file).map_err(refused)?;
        let mut memory = Contents::new(head.memory_bytes).map_err(failed)?;
        let offsets: Vec<u64> = head
            .pages
            .iter()
            .map(|page| page.wrapping_sub(Map::SERVER.memory))
            .collect();
        let mut rest = pages;
        for run in offsets.chunk_by(|one, next| one.wrapping_add(PAGE_BYTES) == *next) {
            let (content, others) = rest.split_at(run.len() * PAGE);
            memory.load(run[0], content).map_err(failed)?;
            rest = others;
        }
        Ok(Checkpoint {
            path: path.to_path_buf(),
            head,
            memory,
        })
    }

    /// Bytes of memory that the machine has.
    pub fn memory_bytes(&self) -> u64 {
        self.head.memory_bytes
    }

    /// A memory with the contents at the time of the checkpoint.
    pub(crate) fn memory(&self) -> Result<GuestMemory, MachineError> {
        let bytes = self.head.memory_bytes;
        let mut memory = reserve(bytes)?;
        memory
            .mapping()
            .begin_with(Map::SERVER.memory, &self.memory)
            .map_err(|error| MachineError::Reserve { bytes, error })?;
        Ok(memory)
    }
}

/// The parts of a checkpoint: its head, and the contents of its pages; or the error in it.
fn parts(file: &[u8]) -> Result<(Head, &[u8]), &'static str> {
    const DAMAGED: &str = "is damaged or incomplete";
    let body = file
        .strip_prefix(&MAGIC)
        .ok_or("is no checkpoint of a booted machine")?;
    let (version, body) = body.split_first_chunk().ok_or(DAMAGED)?;
    if u32::from_le_bytes(*version) != VERSION {
        return Err("is a checkpoint of another version of Rackwright");
    }
    let (content, checksum) = file.split_last_chunk::<CHECKSUM>().ok_or(DAMAGED)?;
    let mut digest = Digest::new();
    digest.bytes(content);
    if digest.value().to_le_bytes() != *checksum {
        return Err(DAMAGED);
    }
    let (length, body) = body.split_first_chunk().ok_or(DAMAGED)?;
    let length = u64::from_le_bytes(*length) as usize;
    let head = body.get(..length).ok_or(DAMAGED)?;
    let head: Head = postcard::from_bytes(head).map_err(|_| DAMAGED)?;
    let pages = &body[length..body.len() - CHECKSUM];
    if pages.len() != head.pages.len() * PAGE {
        return Err(DAMAGED);
    }
    Ok((head, pages))
}

/// Memory of `bytes` bytes at its address in a machine, all zeros.
pub(crate) fn reserve(bytes: u64) -> Result<GuestMemory, MachineError> {
    let base = Map::SERVER.memory;
    let reserve = |error| MachineError::Reserve { bytes, error };
    let mut memory = GuestMemory::new(base.saturating_add(bytes)).map_err(reserve)?;
    memory
        .protect(base, bytes, Protection::ALL)
        .map_err(rackwright_boot::BootError::from)?;
    Ok(memory)
}
