//! Files in memory with names, which all processes of a program find: those of `/dev/shm`, where C libraries keep shared
//! memory and semaphores. None of them is the host's.

use crate::calls::refuse;
use crate::files::open_options;
use crate::limits::{memory_file, open_on_host};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const FOLDER: &str = "/dev/shm";
/// The flags that concern names, of which the host knows none here.
const OF_NAMES: i32 = libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;

/// A file, and the number that it has for the program.
#[derive(Clone, Debug)]
struct Named {
    file: Arc<File>,
    inode: u64,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Names(Arc<Mutex<BTreeMap<OsString, Named>>>);

/// The name of such a file, from its path.
pub(crate) fn name(path: &Path) -> Option<&OsStr> {
    let mut parts = path.strip_prefix(FOLDER).ok()?.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => Some(name),
        _ => None,
    }
}

impl Names {
    fn all(&self) -> MutexGuard<'_, BTreeMap<OsString, Named>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// Opens a file, which is new if the flags ask for it; `inode` is then its number. Returns its number, too.
    pub(crate) fn open(&self, name: &OsStr, flags: i32, mode: u32, inode: u64) -> io::Result<(File, u64)> {
        let mut all = self.all();
        if let Some(named) = all.get(name) {
            if flags & (libc::O_CREAT | libc::O_EXCL) == libc::O_CREAT | libc::O_EXCL {
                return refuse(libc::EEXIST);
            }
            return Ok((reopen(&named.file, flags)?, named.inode));
        }
        if flags & libc::O_CREAT == 0 {
            return refuse(libc::ENOENT);
        }
        let made = open_on_host(|| memory_file(libc::MFD_CLOEXEC))?;
        let file = reopen(&made, flags)?;
        made.set_permissions(Permissions::from_mode(mode))?;
        let named = Named {
            file: Arc::new(made),
            inode,
        };
        all.insert(name.to_os_string(), named);
        Ok((file, inode))
    }

    /// A file and its number.
    pub(crate) fn get(&self, name: &OsStr) -> io::Result<(Arc<File>, u64)> {
        let found = self.all().get(name).cloned();
        let found = found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
        Ok((found.file, found.inode))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.get(name)?;
        self.all().remove(name);
        Ok(())
    }

    /// Gives a file another name, which is new unless it `replaces` a file.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr, replaces: bool) -> io::Result<()> {
        let mut all = self.all();
        let Some(named) = all.get(from).cloned() else {
            return refuse(libc::ENOENT);
        };
        if !replaces && all.contains_key(to) {
            return refuse(libc::EEXIST);
        }
        all.insert(to.to_os_string(), named);
        Ok(())
    }
}

/// Opens a file of the simulator once more, with a position of its own.
pub(crate) fn reopen(file: &File, flags: i32) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    open_on_host(|| open_options(flags & !OF_NAMES, 0).open(&path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_file_is_found_by_all_of_its_names() {
        let names = Names::default();
        let other = names.clone();
        let [one, two] = ["/dev/shm/one", "/dev/shm/two"].map(|path| name(Path::new(path)).unwrap());
        assert!(other.open(one, libc::O_RDWR, 0, 0).is_err());
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let (mut file, inode) = names.open(one, flags, 0o600, 5).unwrap();
        file.write_all(b"kept").unwrap();
        other.link(one, two, false).unwrap();
        assert!(other.link(one, two, false).is_err() && names.open(two, flags, 0o600, 6).is_err());
        names.remove(one).unwrap();
        let (mut file, again) = other.open(two, libc::O_RDONLY, 0, 7).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), inode, again), ("kept", 5, 5));
        assert!(names.remove(one).is_err() && !names.is_empty());
    }

    #[test]
    fn names_have_no_folders() {
        for path in ["/dev/shm", "/dev/shm/a/b", "/dev/shm/../mem", "shm/a"] {
            assert_eq!(name(Path::new(path)), None, "{path}");
        }
    }
}
