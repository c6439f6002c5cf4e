//! Open files, by their descriptors.

use super::path::{store, store_file_system};
use super::{number, refuse, Call};
use crate::descriptor::Descriptor;
use crate::gather;
use crate::listing::Listing;
use crate::process::Process;
use std::fs::Permissions;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;

// Requests of `ioctl`.
const FIONREAD: u32 = 0x541b;
const FIONBIO: u32 = 0x5421;
const FIONCLEX: u32 = 0x5450;
const FIOCLEX: u32 = 0x5451;

/// `CLOSE_RANGE_CLOEXEC`.
const ON_EXEC: u64 = 4;

impl Process {
    pub(super) fn file_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, ..] = call.arguments;
        match number {
            number::CLOSE => self.closing(|files| files.close(first)).map(|()| 0),
            number::CLOSE_RANGE => {
                self.closing(|files| files.close_range(first, second, third & ON_EXEC != 0));
                Ok(0)
            }
            number::LSEEK => self.seek(first, second as i64, third),
            number::FTRUNCATE if second > i64::MAX as u64 => refuse(libc::EINVAL),
            number::FTRUNCATE => {
                self.files.get(first)?.borrow().truncate(second)?;
                self.refit_shared(call.memory).map(|()| 0)
            }
            number::FALLOCATE => self.allocate(call),
            number::GETDENTS64 => self.list(call),
            number::DUP => self.files.duplicate(first, 0, false),
            number::DUP3 => {
                let on_exec = third as i32 & libc::O_CLOEXEC != 0;
                self.closing(|files| files.duplicate_to(first, second, on_exec))
            }
            number::FCNTL => self.control(call),
            number::IOCTL => self.device_control(call),
            number::FSTAT => {
                let status = self.files.status_of(first)?;
                store(call.memory, second, &status.bytes())
            }
            number::FSTATFS => {
                self.files.get(first)?;
                store_file_system(call.memory, second)
            }
            number::FCHMOD => {
                let shared = self.files.get(first)?;
                let descriptor = shared.borrow();
                let host = descriptor.host()?;
                self.files.check_changeable(host)?;
                let permissions = Permissions::from_mode(second as u32 & 0o7777);
                host.file.set_permissions(permissions).map(|()| 0)
            }
            number::FCHOWN => {
                let shared = self.files.get(first)?;
                let descriptor = shared.borrow();
                self.files.check_changeable(descriptor.host()?).map(|()| 0)
            }
            // No data are lost at the end of a simulation.
            number::FSYNC | number::FDATASYNC | number::SYNC_FILE_RANGE | number::SYNCFS => {
                self.files.get(first)?.borrow().host().map(|_| 0)
            }
            number::FLOCK => self.lock_whole(first, second),
            number::FADVISE64 => self.files.get(first).map(|_| 0),
            number::READAHEAD => match &*self.files.get(first)?.borrow() {
                Descriptor::Host(_) | Descriptor::Text(_) => Ok(0),
                _ => refuse(libc::EINVAL),
            },
            number::SYNC => Ok(0),
            _ => self.transfer_call(number, call),
        }
    }

    fn seek(&mut self, descriptor: u64, offset: i64, whence: u64) -> io::Result<u64> {
        let shared = self.files.get(descriptor)?;
        let mut descriptor = shared.borrow();
        let to = match whence as i32 {
            libc::SEEK_SET => SeekFrom::Start(u64::try_from(offset).or(refuse(libc::EINVAL))?),
            libc::SEEK_CUR => SeekFrom::Current(offset),
            libc::SEEK_END => SeekFrom::End(offset),
            libc::SEEK_DATA | libc::SEEK_HOLE => {
                return seek_hole(&descriptor, offset, whence as i32);
            }
            _ => return refuse(libc::EINVAL),
        };
        descriptor.seek(to)
    }

    /// `fallocate(file, mode, offset, length)`.
    fn allocate(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [file, mode, offset, length, ..] = call.arguments;
        let shared = self.files.get(file)?;
        {
            let descriptor = shared.borrow();
            let Descriptor::Host(host) = &*descriptor else {
                return refuse(libc::ENODEV);
            };
            // SAFETY: the descriptor is open, and no memory is involved.
            let result =
                unsafe { libc::fallocate(host.file.as_raw_fd(), mode as i32, offset as i64, length as i64) };
            if result != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        self.refit_shared(call.memory).map(|()| 0)
    }

    /// `getdents64(folder, entries, bytes)`.
    fn list(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, entries, bytes, ..] = call.arguments;
        let shared = self.files.get(folder)?;
        let mut descriptor = shared.borrow();
        let Descriptor::Host(host) = &mut *descriptor else {
            return refuse(libc::ENOTDIR);
        };
        let Some(folder) = &mut host.folder else {
            return refuse(libc::ENOTDIR);
        };
        let listing = match folder.listing.take() {
            Some(listing) => listing,
            None => Listing::of(&host.path, &mut self.files.inodes)?,
        };
        let taken = listing.take(&mut folder.place, bytes as usize);
        folder.listing = Some(listing);
        let taken = taken?;
        store(call.memory, entries, &taken)?;
        Ok(taken.len() as u64)
    }

    fn control(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [number, command, argument, ..] = call.arguments;
        let shared = self.files.get(number)?;
        match command as i32 {
            libc::F_DUPFD => self.files.duplicate(number, argument, false),
            libc::F_DUPFD_CLOEXEC => self.files.duplicate(number, argument, true),
            libc::F_GETFD => self.files.closes_on_exec(number).map(u64::from),
            libc::F_SETFD => {
                let closes = argument as i32 & libc::FD_CLOEXEC != 0;
                self.files.set_closes_on_exec(number, closes).map(|()| 0)
            }
            libc::F_GETFL => Ok(shared.flags() as u64),
            libc::F_SETFL => {
                shared.set_flags(argument as i32);
                if let Ok(host) = shared.borrow().host() {
                    let appends = argument as i32 & libc::O_APPEND;
                    // SAFETY: the descriptor is open, and the argument of this command is a number.
                    if unsafe { libc::fcntl(host.file.as_raw_fd(), libc::F_SETFL, appends) } < 0 {
                        return Err(io::Error::last_os_error());
                    }
                }
                Ok(0)
            }
            libc::F_GETLK..=libc::F_SETLKW | libc::F_OFD_GETLK..=libc::F_OFD_SETLKW => {
                self.lock_part(&shared, command as i32, call.memory, argument)
            }
            libc::F_GETPIPE_SZ | libc::F_SETPIPE_SZ => Ok(crate::channel::CAPACITY as u64),
            libc::F_ADD_SEALS | libc::F_GET_SEALS => {
                let descriptor = shared.borrow();
                let file = descriptor.host()?.file.as_raw_fd();
                // SAFETY: the descriptor is open, and the argument of these commands is a number.
                match unsafe { libc::fcntl(file, command as i32, argument as i32) } {
                    -1 => Err(io::Error::last_os_error()),
                    seals => Ok(seals as u64),
                }
            }
            _ => refuse(libc::EINVAL),
        }
    }

    fn device_control(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [number, request, argument, ..] = call.arguments;
        let shared = self.files.get(number)?;
        match request as u32 {
            FIOCLEX | FIONCLEX => {
                let closes = request as u32 == FIOCLEX;
                self.files.set_closes_on_exec(number, closes).map(|()| 0)
            }
            FIONBIO => {
                let value = gather::half_word(call.memory, argument)?;
                let others = shared.flags() & !libc::O_NONBLOCK;
                shared.set_flags(others | if value != 0 { libc::O_NONBLOCK } else { 0 });
                Ok(0)
            }
            FIONREAD => {
                let available = available(&mut shared.borrow())?;
                store(call.memory, argument, &available.to_le_bytes())
            }
            // There are no terminals.
            _ => refuse(libc::ENOTTY),
        }
    }
}

/// Bytes that can be read at once.
fn available(descriptor: &mut Descriptor) -> io::Result<u32> {
    match descriptor {
        Descriptor::Source(source) => Ok(source.available() as u32),
        Descriptor::Socket(socket) => Ok(socket.available()? as u32),
        Descriptor::Host(host) => {
            let left = host
                .file
                .metadata()?
                .len()
                .saturating_sub((&*host.file).stream_position()?);
            Ok(u32::try_from(left).unwrap_or(u32::MAX))
        }
        _ => refuse(libc::ENOTTY),
    }
}

/// The position of the next data or hole, according to the host's file system.
fn seek_hole(descriptor: &Descriptor, offset: i64, whence: i32) -> io::Result<u64> {
    let Descriptor::Host(host) = descriptor else {
        return refuse(libc::ESPIPE);
    };
    // SAFETY: the descriptor is open, and no memory is involved.
    match unsafe { libc::lseek(host.file.as_raw_fd(), offset, whence) } {
        -1 => Err(io::Error::last_os_error()),
        place => Ok(place as u64),
    }
}
