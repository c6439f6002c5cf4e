use crate::input::Reader;
use crate::stat::{Inodes, Status};
use rand_chacha::rand_core::RngCore;
use rand_chacha::ChaCha8Rng;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// What an open descriptor stands for.
#[derive(Debug)]
pub(crate) enum Descriptor {
    /// Standard input.
    Input(Reader),
    /// Random bytes, the same in every run.
    Random(Box<ChaCha8Rng>),
    /// Standard output or error: bytes kept, and passed on as they come if asked for.
    Output { bytes: Vec<u8>, echo: bool, error: bool },
    /// What the simulator tells of the program.
    Text(Cursor<Vec<u8>>),
    /// A file of the host.
    Host { file: File, path: PathBuf },
}

impl Descriptor {
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Descriptor::Input(input) => input.read(into),
            Descriptor::Random(random) => {
                random.fill_bytes(into);
                Ok(into.len())
            }
            Descriptor::Output { .. } => Err(io::Error::from_raw_os_error(libc::EBADF)),
            Descriptor::Text(text) => text.read(into),
            Descriptor::Host { file, .. } => file.read(into),
        }
    }

    pub(crate) fn read_at(&mut self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Descriptor::Host { file, .. } => file.read_at(into, offset),
            _ => Err(io::Error::from_raw_os_error(libc::ESPIPE)),
        }
    }

    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Descriptor::Input(_) | Descriptor::Random(_) | Descriptor::Text(_) => {
                Err(io::Error::from_raw_os_error(libc::EBADF))
            }
            Descriptor::Output { bytes, echo, error } => {
                bytes.extend_from_slice(from);
                if *echo {
                    pass_on(from, *error)?;
                }
                Ok(from.len())
            }
            Descriptor::Host { file, .. } => file.write(from),
        }
    }

    pub(crate) fn write_at(&mut self, from: &[u8], offset: u64) -> io::Result<usize> {
        match self {
            Descriptor::Host { file, .. } => file.write_at(from, offset),
            _ => Err(io::Error::from_raw_os_error(libc::ESPIPE)),
        }
    }

    pub(crate) fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Descriptor::Text(text) => text.seek(to),
            Descriptor::Host { file, .. } => file.seek(to),
            _ => Err(io::Error::from_raw_os_error(libc::ESPIPE)),
        }
    }

    pub(crate) fn truncate(&mut self, length: u64) -> io::Result<()> {
        match self {
            Descriptor::Host { file, .. } => file.set_len(length),
            _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        }
    }

    pub(crate) fn status(&self, inodes: &mut Inodes) -> io::Result<Status> {
        match self {
            Descriptor::Host { file, .. } => Ok(inodes.status(&file.metadata()?)),
            _ => Ok(Status::of_pipe()),
        }
    }

    /// The path of a host file.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Descriptor::Host { path, .. } => Some(path),
            _ => None,
        }
    }
}

fn pass_on(bytes: &[u8], error: bool) -> io::Result<()> {
    if error {
        return io::stderr().write_all(bytes);
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
