//! Files and descriptors.

use super::{number, refuse, Call};
use crate::process::Process;
use crate::{gather, maps};
use rackwright_memory::GuestMemory;
use std::io::{self, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Stands for the current folder where a call takes a folder.
const CURRENT_FOLDER: u64 = libc::AT_FDCWD as i64 as u64;

impl Process {
    pub(super) fn file_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, ..] = call.arguments;
        match number {
            number::READ => self.read(call.memory, first, &[(second, third)], None),
            number::WRITE => self.write(call.memory, first, &[(second, third)], None),
            number::READV => {
                let pieces = gather::pieces(call.memory, second, third)?;
                self.read(call.memory, first, &pieces, None)
            }
            number::WRITEV => {
                let pieces = gather::pieces(call.memory, second, third)?;
                self.write(call.memory, first, &pieces, None)
            }
            number::PREAD64 => self.read(call.memory, first, &[(second, third)], Some(fourth)),
            number::PWRITE64 => self.write(call.memory, first, &[(second, third)], Some(fourth)),
            number::OPENAT => self.open(call),
            number::CLOSE => self.files.close(first).map(|()| 0),
            number::LSEEK => self.seek(first, second as i64, third),
            number::FTRUNCATE => self.files.get(first)?.borrow().truncate(second).map(|()| 0),
            number::DUP => self.files.duplicate(first, 0),
            number::DUP3 => self.files.duplicate_to(first, second),
            number::FCNTL => self.control(first, second, third),
            number::IOCTL => self.files.get(first).and_then(|_| refuse(libc::ENOTTY)),
            _ => self.path_call(number, call),
        }
    }

    fn path_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        match number {
            number::FSTAT => {
                let status = self.files.status_of(first)?;
                store(call.memory, second, &status.bytes())
            }
            number::NEWFSTATAT => {
                let status = self.status_at(call.memory, first, second, fourth)?;
                store(call.memory, third, &status.bytes())
            }
            number::STATX => {
                let status = self.status_at(call.memory, first, second, third)?;
                store(call.memory, fifth, &status.extended_bytes())
            }
            number::FACCESSAT | number::FACCESSAT2 => {
                let path = self.path_at(call.memory, first, second)?;
                self.files.status(&path).map(|_| 0)
            }
            number::READLINKAT => self.read_link(call),
            number::GETCWD => current_folder(call.memory, first, second),
            number::MKDIRAT => {
                let path = self.path_at(call.memory, first, second)?;
                self.files.make_folder(&path).map(|()| 0)
            }
            number::UNLINKAT => {
                let path = self.path_at(call.memory, first, second)?;
                self.files.remove(&path).map(|()| 0)
            }
            _ => self.unknown(number),
        }
    }

    fn read(
        &mut self,
        memory: &mut GuestMemory,
        descriptor: u64,
        pieces: &[(u64, u64)],
        offset: Option<u64>,
    ) -> io::Result<u64> {
        let descriptor = self.files.get(descriptor)?;
        piece_by_piece(pieces, |done, address, length| {
            let mut buffer = gather::buffer(length);
            let count = match offset {
                Some(offset) => descriptor.borrow().read_at(&mut buffer, offset + done)?,
                None => descriptor.borrow().read(&mut buffer)?,
            };
            memory.write(address, &buffer[..count]).map_err(gather::fault)?;
            Ok(count)
        })
    }

    fn write(
        &mut self,
        memory: &mut GuestMemory,
        descriptor: u64,
        pieces: &[(u64, u64)],
        offset: Option<u64>,
    ) -> io::Result<u64> {
        let descriptor = self.files.get(descriptor)?;
        piece_by_piece(pieces, |done, address, length| {
            let bytes = gather::bytes(memory, address, length)?;
            match offset {
                Some(offset) => descriptor.borrow().write_at(&bytes, offset + done),
                None => descriptor.borrow().write(&bytes),
            }
        })
    }

    fn open(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, name, flags, mode, ..] = call.arguments;
        let path = self.path_at(call.memory, folder, name)?;
        if maps::PATHS.iter().any(|known| path == Path::new(known)) {
            return self.files.open_text(maps::text(&self.layout, call.memory));
        }
        self.files.open(&path, flags as i32, mode as u32)
    }

    fn seek(&mut self, descriptor: u64, offset: i64, whence: u64) -> io::Result<u64> {
        let to = match whence as i32 {
            libc::SEEK_SET => SeekFrom::Start(u64::try_from(offset).or(refuse(libc::EINVAL))?),
            libc::SEEK_CUR => SeekFrom::Current(offset),
            libc::SEEK_END => SeekFrom::End(offset),
            _ => return refuse(libc::EINVAL),
        };
        self.files.get(descriptor)?.borrow().seek(to)
    }

    fn control(&mut self, descriptor: u64, command: u64, argument: u64) -> io::Result<u64> {
        match command as i32 {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => self.files.duplicate(descriptor, argument),
            libc::F_GETFD | libc::F_SETFD | libc::F_GETFL | libc::F_SETFL => {
                self.files.get(descriptor).map(|_| 0)
            }
            _ => refuse(libc::EINVAL),
        }
    }

    fn status_at(
        &mut self,
        memory: &GuestMemory,
        folder: u64,
        name: u64,
        flags: u64,
    ) -> io::Result<crate::stat::Status> {
        let path = gather::path(memory, name)?;
        if path.as_os_str().is_empty() && flags as i32 & libc::AT_EMPTY_PATH != 0 && folder != CURRENT_FOLDER
        {
            return self.files.status_of(folder);
        }
        let path = self.resolve(folder, path)?;
        self.files.status(&path)
    }

    fn path_at(&self, memory: &GuestMemory, folder: u64, name: u64) -> io::Result<PathBuf> {
        self.resolve(folder, gather::path(memory, name)?)
    }

    fn resolve(&self, folder: u64, path: PathBuf) -> io::Result<PathBuf> {
        if path.as_os_str().is_empty() {
            return refuse(libc::ENOENT);
        }
        if path.is_absolute() || folder as i32 == libc::AT_FDCWD {
            return Ok(path);
        }
        let descriptor = self.files.get(folder)?;
        let base = descriptor.borrow().path().cloned();
        base.map_or_else(|| refuse(libc::ENOTDIR), |base| Ok(base.join(path)))
    }

    fn read_link(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, name, target, length, ..] = call.arguments;
        let path = self.path_at(call.memory, folder, name)?;
        // What lies in the host's /proc is the simulator's own, not the program's.
        if path.starts_with("/proc") {
            return refuse(libc::ENOENT);
        }
        let link = std::fs::read_link(path)?;
        let bytes = link.as_os_str().as_bytes();
        let count = bytes.len().min(length as usize);
        store(call.memory, target, &bytes[..count])?;
        Ok(count as u64)
    }
}

fn current_folder(memory: &mut GuestMemory, address: u64, length: u64) -> io::Result<u64> {
    let folder = std::env::current_dir()?;
    let mut bytes = Path::as_os_str(&folder).as_bytes().to_vec();
    bytes.push(0);
    if bytes.len() as u64 > length {
        return refuse(libc::ERANGE);
    }
    store(memory, address, &bytes)?;
    Ok(bytes.len() as u64)
}

fn store(memory: &mut GuestMemory, address: u64, bytes: &[u8]) -> io::Result<u64> {
    memory.write(address, bytes).map_err(gather::fault)?;
    Ok(0)
}

/// Moves pieces, each an address and a length, until one of them is not moved whole. `move_piece` is told how many bytes have
/// been moved before, and says how many it moved. Returns how many were moved altogether.
fn piece_by_piece(
    pieces: &[(u64, u64)],
    mut move_piece: impl FnMut(u64, u64, u64) -> io::Result<usize>,
) -> io::Result<u64> {
    let mut total = 0;
    for &(address, length) in pieces {
        let count = move_piece(total, address, length)? as u64;
        total += count;
        if count < length {
            break;
        }
    }
    Ok(total)
}
