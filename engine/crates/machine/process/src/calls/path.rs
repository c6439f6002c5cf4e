//! Files and folders by their paths.

use super::{number, refuse, Call};
use crate::files::check_readable;
use crate::gather;
use crate::names;
use crate::process::Process;
use crate::selves::descriptor;
use crate::stat::{Status, Time};
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::ffi::{CString, OsStr};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Represents the current folder in calls with a folder.
pub(super) const CURRENT_FOLDER: u64 = libc::AT_FDCWD as i64 as u64;
/// The permissions in a mode.
const PERMISSIONS: u32 = 0o7777;

// Words of the kernel's `struct statfs`, and the disk that it reports: always a large, half empty one.
const STATFS_WORDS: usize = 15;
const STATFS_MAGIC: u64 = 0xef53;
const BLOCK_BYTES: u64 = 4096;
const BLOCKS: u64 = 1 << 26;
const LONGEST_NAME: u64 = 255;

impl Process {
    pub(super) fn path_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        match number {
            number::OPENAT => self.open(call),
            number::NEWFSTATAT => {
                let status = self.status_at(call.memory, first, second, fourth)?;
                store(call.memory, third, &status.bytes())
            }
            number::STATX => {
                let status = self.status_at(call.memory, first, second, third)?;
                store(call.memory, fifth, &status.extended_bytes())
            }
            number::FACCESSAT | number::FACCESSAT2 => self.access(call),
            number::READLINKAT => self.read_link(call),
            number::GETCWD => self.current_folder(call.memory, first, second),
            number::CHDIR => {
                let path = self.path_at(call.memory, CURRENT_FOLDER, first)?;
                self.change_folder(&path)
            }
            number::FCHDIR => {
                let folder = self.files.get(first)?.borrow().path().cloned();
                folder.map_or_else(|| refuse(libc::ENOTDIR), |folder| self.change_folder(&folder))
            }
            number::STATFS => {
                let path = self.path_at(call.memory, CURRENT_FOLDER, first)?;
                self.files.status(&path, true)?;
                store_file_system(call.memory, second)
            }
            number::MKDIRAT => {
                let path = self.entry_at(call.memory, first, second)?;
                fs::create_dir(&path)?;
                let mode = third as u32 & PERMISSIONS & !self.files.mask;
                fs::set_permissions(path, Permissions::from_mode(mode)).map(|()| 0)
            }
            number::UNLINKAT => {
                let path = self.path_at(call.memory, first, second)?;
                if let Some(name) = names::name(&path) {
                    return self.files.names.remove(name).map(|()| 0);
                }
                let path = self.entry_at(call.memory, first, second)?;
                self.remove(&path, third as i32 & libc::AT_REMOVEDIR != 0)
            }
            number::SYMLINKAT => {
                let target = gather::path(call.memory, first)?;
                let path = self.entry_at(call.memory, second, third)?;
                std::os::unix::fs::symlink(target, path).map(|()| 0)
            }
            number::LINKAT => {
                let from = self.path_at(call.memory, first, second)?;
                let to = self.path_at(call.memory, third, fourth)?;
                if let (Some(from), Some(to)) = (names::name(&from), names::name(&to)) {
                    return self.files.names.link(from, to, false).map(|()| 0);
                }
                // A name inside would make a file outside writable.
                self.files.check_writable(&from)?;
                let to = self.entry_at(call.memory, third, fourth)?;
                fs::hard_link(from, to).map(|()| 0)
            }
            number::RENAMEAT | number::RENAMEAT2 => self.rename(number, call),
            _ => self.change(number, call),
        }
    }

    /// Calls that change the metadata of a file.
    fn change(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, ..] = call.arguments;
        match number {
            number::TRUNCATE if second > i64::MAX as u64 => refuse(libc::EINVAL),
            number::TRUNCATE => {
                let path = self.path_at(call.memory, CURRENT_FOLDER, first)?;
                self.files.check_writable(&path)?;
                fs::File::options().write(true).open(path)?.set_len(second)?;
                self.refit_shared(call.memory)?;
                Ok(0)
            }
            number::FCHMODAT => {
                let path = self.path_at(call.memory, first, second)?;
                self.files.check_writable(&path)?;
                fs::set_permissions(path, Permissions::from_mode(third as u32 & PERMISSIONS)).map(|()| 0)
            }
            // All belongs to the one user that there is.
            number::FCHOWNAT => {
                let path = self.path_at(call.memory, first, second)?;
                self.files.check_writable(&path).map(|()| 0)
            }
            number::UTIMENSAT => self.set_times(call),
            _ => self.unknown(number),
        }
    }

    fn open(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, name, flags, mode, ..] = call.arguments;
        let path = self.path_at(call.memory, folder, name)?;
        if let Some(text) = self.told(&path, call.memory, call.now) {
            if flags as i32 & libc::O_ACCMODE != libc::O_RDONLY {
                return refuse(libc::EACCES);
            }
            return self.files.open_text(text);
        }
        let (flags, mode) = (flags as i32, mode as u32 & PERMISSIONS);
        let number = match descriptor(&path, self.id) {
            Some(number) => self.files.reopen(number, flags, mode)?,
            None => self.files.open(&path, flags, mode)?,
        };
        if flags & libc::O_TRUNC != 0 {
            self.refit_shared(call.memory)?;
        }
        Ok(number)
    }

    fn rename(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, flags, _] = call.arguments;
        let from = self.path_at(call.memory, first, second)?;
        let to = self.path_at(call.memory, third, fourth)?;
        let flags = if number == number::RENAMEAT2 {
            flags as u32
        } else {
            0
        };
        if let (Some(from), Some(to)) = (names::name(&from), names::name(&to)) {
            return self.rename_in_memory(from, to, flags);
        }
        self.files.check_entry(&from)?;
        self.files.check_entry(&to)?;
        let replaced = fs::symlink_metadata(&to).ok();
        match flags {
            0 => {}
            // No other agent creates names meanwhile.
            libc::RENAME_NOREPLACE if replaced.is_some() => return refuse(libc::EEXIST),
            libc::RENAME_NOREPLACE => {}
            libc::RENAME_EXCHANGE => return exchange(&from, &to),
            _ => return refuse(libc::EINVAL),
        }
        fs::rename(&from, &to)?;
        if let Some(replaced) = replaced.filter(|_| fs::symlink_metadata(&from).is_err()) {
            self.files.forget_name(&replaced);
        }
        Ok(0)
    }

    fn rename_in_memory(&mut self, from: &OsStr, to: &OsStr, flags: u32) -> io::Result<u64> {
        if flags & !libc::RENAME_NOREPLACE != 0 {
            return refuse(libc::EINVAL);
        }
        self.files.names.link(from, to, flags == 0)?;
        if from != to {
            self.files.names.remove(from)?;
        }
        Ok(0)
    }

    fn remove(&mut self, path: &Path, is_folder: bool) -> io::Result<u64> {
        let metadata = fs::symlink_metadata(path)?;
        if is_folder {
            fs::remove_dir(path)?;
        } else {
            fs::remove_file(path)?;
        }
        self.files.forget_name(&metadata);
        Ok(0)
    }

    fn access(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, name, mode, ..] = call.arguments;
        let path = self.path_at(call.memory, folder, name)?;
        if self.told(&path, call.memory, call.now).is_some() {
            return Ok(0);
        }
        if let Some(number) = descriptor(&path, self.id) {
            return self
                .files
                .get(number)
                .map(|_| 0)
                .or_else(|_| refuse(libc::ENOENT));
        }
        let status = self.files.status(&path, true)?;
        if mode as i32 & libc::X_OK != 0 && !status.is_executable() {
            return refuse(libc::EACCES);
        }
        if mode as i32 & libc::W_OK != 0 {
            self.files.check_writable(&path)?;
        }
        Ok(0)
    }

    fn set_times(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, name, times, flags, ..] = call.arguments;
        let now = self.wall_time(call.now);
        let mut set = [Some(now), Some(now)];
        if times != 0 {
            for (index, time) in set.iter_mut().enumerate() {
                *time = asked_time(call.memory, times + 16 * index as u64, now)?;
            }
        }
        if name == 0 {
            let shared = self.files.get(folder)?;
            let descriptor = shared.borrow();
            let host = descriptor.host()?;
            self.files.check_changeable(host)?;
            self.files
                .inodes
                .set_times(&host.file.metadata()?, host.inode, set);
            return Ok(0);
        }
        let path = self.path_at(call.memory, folder, name)?;
        self.files.check_writable(&path)?;
        let metadata = if flags as i32 & libc::AT_SYMLINK_NOFOLLOW != 0 {
            fs::symlink_metadata(path)?
        } else {
            fs::metadata(path)?
        };
        self.files.inodes.set_times(&metadata, None, set);
        Ok(0)
    }

    fn status_at(&mut self, memory: &GuestMemory, folder: u64, name: u64, flags: u64) -> io::Result<Status> {
        let flags = flags as i32;
        let path = gather::path(memory, name)?;
        if path.as_os_str().is_empty() && flags & libc::AT_EMPTY_PATH != 0 && folder != CURRENT_FOLDER {
            return self.files.status_of(folder);
        }
        let path = self.resolve(folder, path)?;
        let follows = flags & libc::AT_SYMLINK_NOFOLLOW == 0;
        if self.is_link(&path) && !follows {
            return Ok(Status::of_link(self.own.path.as_os_str().len() as u64));
        }
        if let Some(number) = descriptor(&path, self.id) {
            let status = self.files.status_of(number).or_else(|_| refuse(libc::ENOENT))?;
            let length = || {
                self.files
                    .get(number)
                    .map(|shared| shared.borrow().link().as_os_str().len())
            };
            return if follows {
                Ok(status)
            } else {
                Ok(Status::of_link(length()? as u64))
            };
        }
        if self.is_own_file(&path) {
            return Ok(Status::of_program(self.own.bytes.len() as u64));
        }
        if let Some(text) = self.told(&path, memory, Cycle::ZERO) {
            return Ok(Status::of_text(text.len() as u64));
        }
        self.files.status(&path, follows)
    }

    pub(super) fn path_at(&self, memory: &GuestMemory, folder: u64, name: u64) -> io::Result<PathBuf> {
        self.resolve(folder, gather::path(memory, name)?)
    }

    /// The path of a name to be created, moved or removed.
    fn entry_at(&self, memory: &GuestMemory, folder: u64, name: u64) -> io::Result<PathBuf> {
        let path = self.path_at(memory, folder, name)?;
        self.files.check_entry(&path)?;
        Ok(path)
    }

    pub(super) fn resolve(&self, folder: u64, path: PathBuf) -> io::Result<PathBuf> {
        if path.as_os_str().is_empty() {
            return refuse(libc::ENOENT);
        }
        if path.is_absolute() {
            return Ok(path);
        }
        if folder as i32 == libc::AT_FDCWD {
            return Ok(self.folder.as_ref().map_or(path.clone(), |base| base.join(path)));
        }
        let descriptor = self.files.get(folder)?;
        let base = descriptor.borrow().path().cloned();
        base.map_or_else(|| refuse(libc::ENOTDIR), |base| Ok(base.join(path)))
    }

    fn read_link(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [folder, name, target, length, ..] = call.arguments;
        let path = self.path_at(call.memory, folder, name)?;
        let link = if self.is_link(&path) {
            self.own.path.clone()
        } else if let Some(number) = descriptor(&path, self.id) {
            let shared = self.files.get(number).or_else(|_| refuse(libc::ENOENT))?;
            let link = shared.borrow().link();
            link
        } else {
            // The host's /proc describes the simulator, not the program. A link itself may be anywhere.
            check_readable(path.parent().unwrap_or(&path))?;
            fs::read_link(path)?
        };
        let bytes = link.as_os_str().as_bytes();
        let count = bytes.len().min(length as usize);
        store(call.memory, target, &bytes[..count])?;
        Ok(count as u64)
    }

    fn change_folder(&mut self, path: &Path) -> io::Result<u64> {
        check_readable(path)?;
        if !fs::metadata(path)?.is_dir() {
            return refuse(libc::ENOTDIR);
        }
        self.folder = Some(fs::canonicalize(path)?);
        Ok(0)
    }

    fn current_folder(&self, memory: &mut GuestMemory, address: u64, length: u64) -> io::Result<u64> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => std::env::current_dir()?,
        };
        let mut bytes = Path::as_os_str(&folder).as_bytes().to_vec();
        bytes.push(0);
        if bytes.len() as u64 > length {
            return refuse(libc::ERANGE);
        }
        store(memory, address, &bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// Has two names change places.
fn exchange(one: &Path, other: &Path) -> io::Result<u64> {
    let [one, other] = [one, other].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (one, other) = (one?, other?);
    let (folder, flags) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    // SAFETY: both are strings that live as long as the call.
    match unsafe { libc::renameat2(folder, one.as_ptr(), folder, other.as_ptr(), flags) } {
        0 => Ok(0),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The time of a `struct timespec`, which stands for a time, for now, or for none.
fn asked_time(memory: &GuestMemory, address: u64, now: Time) -> io::Result<Option<Time>> {
    let seconds = gather::word(memory, address)?;
    let nanoseconds = gather::word(memory, address + 8)?;
    match nanoseconds as i64 {
        libc::UTIME_NOW => Ok(Some(now)),
        libc::UTIME_OMIT => Ok(None),
        0..1_000_000_000 => Ok(Some((seconds, nanoseconds))),
        _ => refuse(libc::EINVAL),
    }
}

/// The result of `statfs`, the same everywhere.
pub(super) fn store_file_system(memory: &mut GuestMemory, address: u64) -> io::Result<u64> {
    let mut words = [0; STATFS_WORDS];
    words[..7].copy_from_slice(&[
        STATFS_MAGIC,
        BLOCK_BYTES,
        BLOCKS,
        BLOCKS / 2,
        BLOCKS / 2,
        BLOCKS / 4,
        BLOCKS / 8,
    ]);
    words[8..10].copy_from_slice(&[LONGEST_NAME, BLOCK_BYTES]);
    gather::store_words(memory, address, &words)?;
    Ok(0)
}

pub(super) fn store(memory: &mut GuestMemory, address: u64, bytes: &[u8]) -> io::Result<u64> {
    memory.write(address, bytes).map_err(gather::fault)?;
    Ok(0)
}
