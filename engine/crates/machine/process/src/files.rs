use crate::descriptor::Descriptor;
use crate::input::{Input, Reader};
use crate::stat::{Inodes, Status};
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most descriptors a program can have open.
const MOST_OPEN: usize = 1024;

/// A descriptor, shared by its duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<Descriptor>>);

impl Shared {
    fn new(descriptor: Descriptor) -> Shared {
        Shared(Arc::new(Mutex::new(descriptor)))
    }

    /// The descriptor itself. One thread runs a process, so that nobody ever waits here.
    pub(crate) fn borrow(&self) -> MutexGuard<'_, Descriptor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open files of a program, and what it may do with the files of the host: read all of them, and
/// change those below one folder if one was given.
#[derive(Debug)]
pub(crate) struct Files {
    open: Vec<Option<Shared>>,
    /// Input, output and error as they were at the start, whatever the program closes or puts in their place.
    standard: [Shared; 3],
    inodes: Inodes,
    write_folder: Option<PathBuf>,
}

/// Seeds what a program reads from the host's sources of random bytes.
const RANDOM_SEED: u64 = 0x646f_6d72;

impl Files {
    /// With standard input, output and error.
    pub(crate) fn new(input: Input, echo: bool, write_folder: Option<&Path>) -> io::Result<Files> {
        let write_folder = write_folder.map(fs::canonicalize).transpose()?;
        let standard = [
            Descriptor::Input(Reader::new(input)),
            Descriptor::Output {
                bytes: Vec::new(),
                echo,
                error: false,
            },
            Descriptor::Output {
                bytes: Vec::new(),
                echo,
                error: true,
            },
        ]
        .map(Shared::new);
        Ok(Files {
            open: standard.iter().cloned().map(Some).collect(),
            standard,
            inodes: Inodes::default(),
            write_folder,
        })
    }

    pub(crate) fn get(&self, number: u64) -> io::Result<Shared> {
        let entry = usize::try_from(number)
            .ok()
            .and_then(|number| self.open.get(number));
        entry
            .cloned()
            .flatten()
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    pub(crate) fn open(&mut self, path: &Path, flags: i32, mode: u32) -> io::Result<u64> {
        let writes =
            flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
        if writes {
            self.check_writable(path)?;
        }
        if RANDOM_SOURCES.iter().any(|source| path == Path::new(source)) {
            let random = ChaCha8Rng::seed_from_u64(RANDOM_SEED);
            return self.insert(Shared::new(Descriptor::Random(Box::new(random))), 0);
        }
        if let Some(number) = STANDARD.iter().position(|name| path == Path::new(name)) {
            return self.insert(self.standard[number].clone(), 0);
        }
        check_readable(path)?;
        let file = open_options(flags, mode).open(path)?;
        if flags & libc::O_DIRECTORY != 0 && !file.metadata()?.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        }
        let path = fs::canonicalize(path)?;
        self.insert(Shared::new(Descriptor::Host { file, path }), 0)
    }

    /// Opens a text that no file holds.
    pub(crate) fn open_text(&mut self, text: String) -> io::Result<u64> {
        let text = io::Cursor::new(text.into_bytes());
        self.insert(Shared::new(Descriptor::Text(text)), 0)
    }

    pub(crate) fn close(&mut self, number: u64) -> io::Result<()> {
        self.get(number)?;
        self.open[number as usize] = None;
        Ok(())
    }

    /// Another number, at least `lowest`, for the same descriptor.
    pub(crate) fn duplicate(&mut self, number: u64, lowest: u64) -> io::Result<u64> {
        let descriptor = self.get(number)?;
        self.insert(descriptor, lowest as usize)
    }

    /// Makes `target` stand for what `number` stands for.
    pub(crate) fn duplicate_to(&mut self, number: u64, target: u64) -> io::Result<u64> {
        let descriptor = self.get(number)?;
        let place = usize::try_from(target).ok().filter(|place| *place < MOST_OPEN);
        let place = place.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
        if self.open.len() <= place {
            self.open.resize(place + 1, None);
        }
        self.open[place] = Some(descriptor);
        Ok(target)
    }

    pub(crate) fn status(&mut self, path: &Path) -> io::Result<Status> {
        check_readable(path)?;
        Ok(self.inodes.status(&fs::metadata(path)?))
    }

    /// The status of an open file.
    pub(crate) fn status_of(&mut self, number: u64) -> io::Result<Status> {
        let descriptor = self.get(number)?;
        let status = descriptor.borrow().status(&mut self.inodes);
        status
    }

    pub(crate) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.check_writable(path)?;
        fs::remove_file(path)
    }

    pub(crate) fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        self.check_writable(path)?;
        fs::create_dir(path)
    }

    /// What was written to standard output (1) or error (2).
    pub(crate) fn output(&self, number: usize) -> Vec<u8> {
        match &*self.standard[number].borrow() {
            Descriptor::Output { bytes, .. } => bytes.clone(),
            _ => Vec::new(),
        }
    }

    /// What was read from standard input.
    pub(crate) fn consumed_input(&self) -> Vec<u8> {
        match &*self.standard[0].borrow() {
            Descriptor::Input(reader) => reader.consumed().to_vec(),
            _ => Vec::new(),
        }
    }

    fn insert(&mut self, descriptor: Shared, lowest: usize) -> io::Result<u64> {
        let free = (lowest..MOST_OPEN).find(|place| self.open.get(*place).is_none_or(Option::is_none));
        let place = free.ok_or_else(|| io::Error::from_raw_os_error(libc::EMFILE))?;
        if self.open.len() <= place {
            self.open.resize(place + 1, None);
        }
        self.open[place] = Some(descriptor);
        Ok(place as u64)
    }

    /// Refuses paths outside the folder that may be changed. The parent is resolved, so that neither
    /// `..` nor a link leads out.
    fn check_writable(&self, path: &Path) -> io::Result<()> {
        let refused = || io::Error::from_raw_os_error(libc::EACCES);
        let folder = self.write_folder.as_ref().ok_or_else(refused)?;
        let resolved = match fs::canonicalize(path) {
            Ok(existing) => existing,
            Err(_) => {
                let plain = matches!(path.components().next_back(), Some(Component::Normal(_)));
                let parent = path.parent().filter(|_| plain).ok_or_else(refused)?;
                let parent = if parent.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    parent
                };
                fs::canonicalize(parent)?
            }
        };
        if resolved.starts_with(folder) {
            Ok(())
        } else {
            Err(refused())
        }
    }
}

/// The host's sources of random bytes, which are another one here.
const RANDOM_SOURCES: [&str; 2] = ["/dev/urandom", "/dev/random"];
/// Names of the standard descriptors.
const STANDARD: [&str; 3] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
/// Devices that are the same everywhere.
const PLAIN_DEVICES: [&str; 2] = ["/dev/null", "/dev/zero"];
/// What lies below these is the simulator's own state or the host's, and differs from run to run.
const HOST_STATE: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Hides what a program must not depend on.
fn check_readable(path: &Path) -> io::Result<()> {
    let known = RANDOM_SOURCES.iter().chain(&PLAIN_DEVICES);
    if known.into_iter().any(|device| path == Path::new(device)) {
        return Ok(());
    }
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if HOST_STATE.iter().any(|folder| real.starts_with(folder)) {
        return Err(io::Error::from_raw_os_error(libc::ENOENT));
    }
    Ok(())
}

fn open_options(flags: i32, mode: u32) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let access = flags & libc::O_ACCMODE;
    let kept = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let mut options = File::options();
    options
        .read(access != libc::O_WRONLY)
        .write(access != libc::O_RDONLY && flags & libc::O_APPEND == 0)
        .append(access != libc::O_RDONLY && flags & libc::O_APPEND != 0)
        .truncate(flags & libc::O_TRUNC != 0)
        .create(flags & libc::O_CREAT != 0 && flags & libc::O_EXCL == 0)
        .create_new(flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0)
        .mode(mode & 0o777)
        .custom_flags(flags & kept);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_below_the_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::new(Input::default(), false, Some(folder.path())).unwrap();
        let create = libc::O_WRONLY | libc::O_CREAT;
        let number = files.open(&folder.path().join("inside"), create, 0o644).unwrap();
        assert_eq!(number, 3);
        let outside = files
            .open(&folder.path().join("../outside"), create, 0o644)
            .unwrap_err();
        assert_eq!(outside.raw_os_error(), Some(libc::EACCES));
        let mut locked = Files::new(Input::default(), false, None).unwrap();
        let refused = locked
            .open(&folder.path().join("inside"), create, 0o644)
            .unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EACCES));
        assert!(locked
            .open(&folder.path().join("inside"), libc::O_RDONLY, 0)
            .is_ok());
    }

    #[test]
    fn what_was_written_stays_after_the_descriptor_is_closed() {
        let mut files = Files::new(Input::default(), false, None).unwrap();
        files.get(1).unwrap().borrow().write(b"kept").unwrap();
        files.close(1).unwrap();
        assert_eq!(files.output(1), b"kept");
        assert_eq!(files.duplicate(2, 0).unwrap(), 1);
        files.get(1).unwrap().borrow().write(b"to error").unwrap();
        assert_eq!(
            (files.output(1), files.output(2)),
            (b"kept".to_vec(), b"to error".to_vec())
        );
    }

    #[test]
    fn nothing_is_seen_of_the_hosts_own_state() {
        let random = || {
            let mut files = Files::new(Input::default(), false, None).unwrap();
            let number = files.open(Path::new("/dev/urandom"), libc::O_RDONLY, 0).unwrap();
            let mut bytes = [0; 32];
            let shared = files.get(number).unwrap();
            assert_eq!(shared.borrow().read(&mut bytes).unwrap(), 32);
            bytes
        };
        assert_eq!(random(), random());
        let mut files = Files::new(Input::default(), false, None).unwrap();
        for path in ["/proc/self/maps", "/proc/../proc/cpuinfo", "/sys", "/dev/mem"] {
            let refused = files.open(Path::new(path), libc::O_RDONLY, 0).unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(libc::ENOENT), "{path}");
        }
        assert!(files.open(Path::new("/dev/null"), libc::O_RDONLY, 0).is_ok());
    }

    #[test]
    fn inodes_are_those_of_no_host() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::new(Input::default(), false, None).unwrap();
        let mut inode = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, name).unwrap();
            let status = files.status(&path).unwrap().bytes();
            u64::from_le_bytes(status[8..16].try_into().unwrap())
        };
        assert_eq!([inode("one"), inode("two"), inode("one")], [2, 3, 2]);
    }

    #[test]
    fn numbers_are_used_again_lowest_first() {
        let mut files = Files::new(Input::default(), false, None).unwrap();
        assert_eq!(files.duplicate(1, 0).unwrap(), 3);
        assert_eq!(files.duplicate(1, 10).unwrap(), 10);
        files.close(0).unwrap();
        assert_eq!(files.duplicate(2, 0).unwrap(), 0);
        assert_eq!(files.get(99).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
