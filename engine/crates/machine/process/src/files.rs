use crate::calls::refuse;
use crate::descriptor::{Descriptor, HostFile};
use crate::follow::{follow, is_state};
use crate::input::{Input, Reader};
use crate::limits::{memory_file, open_on_host, Limits};
use crate::names::{self, name, Names};
use crate::stat::{Inodes, Status};
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A descriptor, shared by its duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Open>);

/// The same, without keeping it open.
#[derive(Clone, Debug)]
pub(crate) struct WeakShared(Weak<Open>);

#[derive(Debug)]
struct Open {
    descriptor: Mutex<Descriptor>,
    /// The flags that `fcntl` returns and sets.
    flags: AtomicI32,
}

/// The flags that a program may set later.
const CHANGEABLE: i32 = libc::O_APPEND | libc::O_NONBLOCK | libc::O_DIRECT | libc::O_NOATIME | libc::O_ASYNC;
/// The flags that are about opening only.
const OPENING: i32 = libc::O_CREAT | libc::O_EXCL | libc::O_NOCTTY | libc::O_TRUNC | libc::O_CLOEXEC;

impl Shared {
    pub(crate) fn new(descriptor: Descriptor, flags: i32) -> Shared {
        Shared(Arc::new(Open {
            descriptor: Mutex::new(descriptor),
            flags: AtomicI32::new(flags & !OPENING),
        }))
    }

    /// The descriptor itself. One thread runs a process, so that this never waits.
    pub(crate) fn borrow(&self) -> MutexGuard<'_, Descriptor> {
        self.0.descriptor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn flags(&self) -> i32 {
        self.0.flags.load(Ordering::Relaxed)
    }

    pub(crate) fn set_flags(&self, flags: i32) {
        let kept = self.flags() & !CHANGEABLE;
        self.0.flags.store(kept | flags & CHANGEABLE, Ordering::Relaxed);
    }

    pub(crate) fn is_nonblocking(&self) -> bool {
        self.flags() & libc::O_NONBLOCK != 0
    }

    /// Its identity among open descriptors.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    pub(crate) fn downgrade(&self) -> WeakShared {
        WeakShared(Arc::downgrade(&self.0))
    }
}

impl WeakShared {
    pub(crate) fn upgrade(&self) -> Option<Shared> {
        self.0.upgrade().map(Shared)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// That of the descriptor, which no other one gets meanwhile.
    pub(crate) fn identity(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// A number that a program has for a descriptor.
#[derive(Clone, Debug)]
struct Entry {
    shared: Shared,
    closes_on_exec: bool,
}

/// A number of a program: the place of its descriptor among others, and whether it closes on exec; `None` if it is free.
pub(crate) type Number = Option<(usize, bool)>;

/// The open files of a program, and its permissions for the files of the host: it may read all of them, and change
/// those below one folder if one was given.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    open: Vec<Option<Entry>>,
    /// Input, output and error as of the start, even if the program closes or replaces them.
    standard: [Shared; 3],
    pub(crate) inodes: Inodes,
    pub(crate) limits: Limits,
    write_folder: Option<PathBuf>,
    /// Permissions that new files do not get.
    pub(crate) mask: u32,
    /// The open descriptors that are timers.
    timers: Vec<WeakShared>,
    /// Files in memory that other processes find, too.
    pub(crate) names: Names,
}

/// The usual mask of new files.
const MASK: u32 = 0o022;

/// Seeds the data of a program's reads from the host's sources of random bytes.
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
        .map(|descriptor| Shared::new(descriptor, libc::O_RDWR));
        let entry = |shared: &Shared| {
            Some(Entry {
                shared: shared.clone(),
                closes_on_exec: false,
            })
        };
        Ok(Files {
            open: standard.iter().map(entry).collect(),
            standard,
            inodes: Inodes::default(),
            limits: Limits::default(),
            write_folder,
            mask: MASK,
            timers: Vec::new(),
            names: Names::default(),
        })
    }

    fn entry(&self, number: u64) -> io::Result<&Entry> {
        let entry = usize::try_from(number)
            .ok()
            .and_then(|number| self.open.get(number)?.as_ref());
        entry.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    pub(crate) fn get(&self, number: u64) -> io::Result<Shared> {
        self.entry(number).map(|entry| entry.shared.clone())
    }

    pub(crate) fn closes_on_exec(&self, number: u64) -> io::Result<bool> {
        self.entry(number).map(|entry| entry.closes_on_exec)
    }

    pub(crate) fn set_closes_on_exec(&mut self, number: u64, closes: bool) -> io::Result<()> {
        self.entry(number)?;
        if let Some(entry) = &mut self.open[number as usize] {
            entry.closes_on_exec = closes;
        }
        Ok(())
    }

    /// Opens a file of the host, or one of the devices that are the same everywhere.
    pub(crate) fn open(&mut self, path: &Path, flags: i32, mode: u32) -> io::Result<u64> {
        if let Some(name) = name(path) {
            self.free(0)?;
            let (file, inode) =
                self.names
                    .open(name, flags, mode & !self.mask & 0o777, self.inodes.next())?;
            return self.add_own(file, path, inode, flags);
        }
        if flags & libc::O_TMPFILE == libc::O_TMPFILE {
            return self.open_unnamed(path, flags, mode);
        }
        let makes = libc::O_CREAT | libc::O_TRUNC;
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & makes != 0;
        if writes && !PLAIN_DEVICES.iter().any(|device| path == Path::new(device)) {
            self.check_writable(path)?;
        }
        if RANDOM_SOURCES.iter().any(|source| path == Path::new(source)) {
            let random = ChaCha8Rng::seed_from_u64(RANDOM_SEED);
            return self.add(Descriptor::Random(Box::new(random)), flags);
        }
        check_readable(path)?;
        // Before the file is created or truncated, which must not happen if the program has no free number.
        self.free(0)?;
        let is_new = flags & libc::O_CREAT != 0 && fs::symlink_metadata(path).is_err();
        let options = open_options(flags, mode & !self.mask);
        let file = open_on_host(|| options.open(path))?;
        if is_new {
            // The simulator's own mask, which the host has applied, is none of the program's.
            file.set_permissions(Permissions::from_mode(mode & !self.mask & 0o777))?;
        }
        let metadata = file.metadata()?;
        if flags & libc::O_DIRECTORY != 0 && !metadata.is_dir() {
            return refuse(libc::ENOTDIR);
        }
        let host = HostFile::new(file, fs::canonicalize(path)?, &metadata);
        self.add(Descriptor::Host(host), flags)
    }

    /// Opens a new file that never has a name: one in memory, so that it may be in any folder.
    fn open_unnamed(&mut self, folder: &Path, flags: i32, mode: u32) -> io::Result<u64> {
        check_readable(folder)?;
        if !fs::metadata(folder)?.is_dir() {
            return refuse(libc::ENOTDIR);
        }
        if flags & libc::O_ACCMODE == libc::O_RDONLY {
            return refuse(libc::EINVAL);
        }
        let number = self.open_in_memory(folder, 0, flags & !libc::O_DIRECTORY)?;
        let permissions = Permissions::from_mode(mode & !self.mask & 0o777);
        self.get(number)?
            .borrow()
            .host()?
            .file
            .set_permissions(permissions)?;
        Ok(number)
    }

    /// Opens a new file in memory, with the host's flags for one.
    pub(crate) fn open_in_memory(&mut self, path: &Path, made: u32, flags: i32) -> io::Result<u64> {
        self.free(0)?;
        let file = open_on_host(|| memory_file(made | libc::MFD_CLOEXEC))?;
        let inode = self.inodes.next();
        self.add_own(file, path, inode, flags)
    }

    fn add_own(&mut self, file: File, path: &Path, inode: u64, flags: i32) -> io::Result<u64> {
        let metadata = file.metadata()?;
        let host = HostFile {
            is_own: true,
            inode: Some(inode),
            ..HostFile::new(file, path.to_path_buf(), &metadata)
        };
        self.add(Descriptor::Host(host), flags)
    }

    /// Opens what is behind a descriptor once more: a file with a position of its own, or the same end of a pipe.
    pub(crate) fn reopen(&mut self, number: u64, flags: i32, mode: u32) -> io::Result<u64> {
        let shared = self.get(number).or_else(|_| refuse(libc::ENOENT))?;
        let file = match &*shared.borrow() {
            Descriptor::Socket(_) => return refuse(libc::ENXIO),
            Descriptor::Host(host) => Some((host.file.clone(), host.path.clone(), host.inode)),
            _ => None,
        };
        match file {
            None => self.insert(shared, 0, flags & libc::O_CLOEXEC != 0),
            Some((file, path, Some(inode))) => {
                self.free(0)?;
                let file = names::reopen(&file, flags)?;
                self.add_own(file, &path, inode, flags)
            }
            Some((_, path, None)) => self.open(&path, flags & !(libc::O_EXCL | libc::O_NOFOLLOW), mode),
        }
    }

    /// Opens a text that no file holds.
    pub(crate) fn open_text(&mut self, text: Vec<u8>) -> io::Result<u64> {
        self.add(Descriptor::Text(io::Cursor::new(text)), libc::O_RDONLY)
    }

    /// Assigns a number to a new descriptor.
    pub(crate) fn add(&mut self, descriptor: Descriptor, flags: i32) -> io::Result<u64> {
        let is_timer = matches!(descriptor, Descriptor::Timer(_));
        let shared = Shared::new(descriptor, flags);
        if is_timer {
            self.timers.retain(WeakShared::is_alive);
            self.timers.push(shared.downgrade());
        }
        self.insert(shared, 0, flags & libc::O_CLOEXEC != 0)
    }

    /// Records that a name of a file, whose `metadata` was read before, has been removed: the host may assign the
    /// number of a file without names to another one.
    pub(crate) fn forget_name(&mut self, metadata: &Metadata) {
        if !metadata.is_dir() && metadata.nlink() > 1 {
            return;
        }
        let Some(number) = self.inodes.forget(metadata) else {
            return;
        };
        for entry in self.open.iter().flatten() {
            let mut descriptor = entry.shared.borrow();
            let Descriptor::Host(host) = &mut *descriptor else {
                continue;
            };
            let is_it = |open: Metadata| (open.dev(), open.ino()) == (metadata.dev(), metadata.ino());
            if host.file.metadata().is_ok_and(is_it) {
                host.inode = Some(number);
            }
        }
    }

    /// When the next of the timers expires after `now`, both in nanoseconds.
    pub(crate) fn next_timer(&self, now: u64) -> Option<u64> {
        let timers = self.timers.iter().filter_map(WeakShared::upgrade);
        let next = timers.filter_map(|timer| match &mut *timer.borrow() {
            Descriptor::Timer(timer) => timer.alarm(now).next(),
            _ => None,
        });
        next.min()
    }

    pub(crate) fn close(&mut self, number: u64) -> io::Result<()> {
        self.entry(number)?;
        self.open[number as usize] = None;
        Ok(())
    }

    /// Closes all numbers from `first` to `last`, or has them close on exec.
    pub(crate) fn close_range(&mut self, first: u64, last: u64, on_exec: bool) {
        let numbers = self.open.iter_mut().enumerate();
        for (_, entry) in numbers.filter(|(number, _)| (first..=last).contains(&(*number as u64))) {
            match entry {
                Some(entry) if on_exec => entry.closes_on_exec = true,
                _ => *entry = None,
            }
        }
    }

    /// Closes descriptors that do not remain open in another program.
    pub(crate) fn close_on_exec(&mut self) {
        for entry in &mut self.open {
            if entry.as_ref().is_some_and(|entry| entry.closes_on_exec) {
                *entry = None;
            }
        }
    }

    /// All descriptors, the standard ones first, and by number: the place of its descriptor among them, and whether it
    /// closes on exec.
    pub(crate) fn descriptors(&self) -> (Vec<Shared>, Vec<Number>) {
        let mut all = self.standard.to_vec();
        let mut place = |entry: &Entry| {
            let is_it = |other: &Shared| other.identity() == entry.shared.identity();
            let place = all.iter().position(is_it).unwrap_or_else(|| {
                all.push(entry.shared.clone());
                all.len() - 1
            });
            (place, entry.closes_on_exec)
        };
        let numbers = self.open.iter().map(|entry| entry.as_ref().map(&mut place));
        let numbers = numbers.collect();
        (all, numbers)
    }

    /// Gives the program these descriptors by these numbers; `None` if there are not as many.
    pub(crate) fn set_descriptors(&mut self, all: &[Shared], numbers: &[Number]) -> Option<()> {
        let entry = |number: &Number| match number {
            Some((place, closes_on_exec)) => Some(Some(Entry {
                shared: all.get(*place)?.clone(),
                closes_on_exec: *closes_on_exec,
            })),
            None => Some(None),
        };
        self.open = numbers.iter().map(entry).collect::<Option<_>>()?;
        let timers = all
            .iter()
            .filter(|shared| matches!(*shared.borrow(), Descriptor::Timer(_)));
        self.timers = timers.map(Shared::downgrade).collect();
        Some(())
    }

    /// The open descriptors, by their numbers.
    pub(crate) fn numbered(&self) -> Vec<Option<Shared>> {
        let shared = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.shared.clone());
        self.open.iter().map(shared).collect()
    }

    /// Closes all numbers, as at the end of a process; standard output and error remain available.
    pub(crate) fn close_all(&mut self) {
        self.open.clear();
    }

    /// Another number, at least `lowest`, for the same descriptor.
    pub(crate) fn duplicate(&mut self, number: u64, lowest: u64, on_exec: bool) -> io::Result<u64> {
        let descriptor = self.get(number)?;
        if lowest >= self.limits.open() as u64 {
            return refuse(libc::EINVAL);
        }
        self.insert(descriptor, lowest as usize, on_exec)
    }

    /// Makes `target` refer to the descriptor of `number`.
    pub(crate) fn duplicate_to(&mut self, number: u64, target: u64, on_exec: bool) -> io::Result<u64> {
        let shared = self.get(number)?;
        if number == target {
            return refuse(libc::EINVAL);
        }
        let place = usize::try_from(target)
            .ok()
            .filter(|place| *place < self.limits.open());
        let place = place.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
        if self.open.len() <= place {
            self.open.resize(place + 1, None);
        }
        self.open[place] = Some(Entry {
            shared,
            closes_on_exec: on_exec,
        });
        Ok(target)
    }

    /// The status of a file, or of the target of a link at its end, if it is followed.
    pub(crate) fn status(&mut self, path: &Path, follows: bool) -> io::Result<Status> {
        if let Some(name) = name(path) {
            let (file, inode) = self.names.get(name)?;
            return Ok(self.inodes.status_of(&file.metadata()?, Some(inode)));
        }
        let metadata = if follows {
            check_readable(path)?;
            fs::metadata(path)?
        } else {
            check_way(path, false)?;
            fs::symlink_metadata(path)?
        };
        Ok(self.inodes.status(&metadata))
    }

    /// The status of an open file.
    pub(crate) fn status_of(&mut self, number: u64) -> io::Result<Status> {
        let descriptor = self.get(number)?;
        let status = descriptor.borrow().status(&mut self.inodes);
        status
    }

    /// The contents of standard output (1) or error (2).
    pub(crate) fn output(&self, number: usize) -> Vec<u8> {
        match &*self.standard[number].borrow() {
            Descriptor::Output { bytes, .. } => bytes.clone(),
            _ => Vec::new(),
        }
    }

    /// The bytes read from standard input.
    pub(crate) fn consumed_input(&self) -> Vec<u8> {
        match &*self.standard[0].borrow() {
            Descriptor::Input(reader) => reader.consumed().to_vec(),
            _ => Vec::new(),
        }
    }

    /// The lowest unused number from `lowest` on.
    pub(crate) fn free(&self, lowest: usize) -> io::Result<usize> {
        let free =
            (lowest..self.limits.open()).find(|place| self.open.get(*place).is_none_or(Option::is_none));
        free.ok_or_else(|| io::Error::from_raw_os_error(libc::EMFILE))
    }

    fn insert(&mut self, shared: Shared, lowest: usize, closes_on_exec: bool) -> io::Result<u64> {
        let place = self.free(lowest)?;
        if self.open.len() <= place {
            self.open.resize(place + 1, None);
        }
        self.open[place] = Some(Entry {
            shared,
            closes_on_exec,
        });
        Ok(place as u64)
    }

    /// Refuses to change a file of the host outside the folder that may be changed.
    pub(crate) fn check_changeable(&self, host: &HostFile) -> io::Result<()> {
        if host.is_own {
            return Ok(());
        }
        self.check_writable(&host.path)
    }

    /// Refuses to write to files outside the folder that may be changed: neither `..` nor a link leads out.
    pub(crate) fn check_writable(&self, path: &Path) -> io::Result<()> {
        if name(path).is_some() {
            return Ok(());
        }
        check_way(path, true)?;
        match fs::canonicalize(path) {
            Ok(existing) => self.check_within(&existing),
            // A link that leads nowhere yet.
            Err(_) if fs::symlink_metadata(path).is_ok() => refuse(libc::EACCES),
            Err(_) => self.check_entry(path),
        }
    }

    /// Refuses to make, move or remove names outside the folder that may be changed. A link is changed itself.
    pub(crate) fn check_entry(&self, path: &Path) -> io::Result<()> {
        let plain = matches!(path.components().next_back(), Some(Component::Normal(_)));
        let Some(parent) = path.parent().filter(|_| plain) else {
            return refuse(libc::EACCES);
        };
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        check_way(parent, true)?;
        self.check_within(&fs::canonicalize(parent)?)
    }

    fn check_within(&self, resolved: &Path) -> io::Result<()> {
        match &self.write_folder {
            Some(folder) if resolved.starts_with(folder) => Ok(()),
            _ => refuse(libc::EACCES),
        }
    }
}

/// The host's sources of random bytes, which are another one here.
const RANDOM_SOURCES: [&str; 2] = ["/dev/urandom", "/dev/random"];
/// Devices that are the same everywhere, and discard what is written.
const PLAIN_DEVICES: [&str; 2] = ["/dev/null", "/dev/zero"];

/// Refuses paths that a program must not depend on.
pub(crate) fn check_readable(path: &Path) -> io::Result<()> {
    let known = RANDOM_SOURCES.iter().chain(&PLAIN_DEVICES);
    if known.into_iter().any(|device| path == Path::new(device)) {
        return Ok(());
    }
    check_way(path, true)
}

/// Refuses paths through the host's state, which is hidden from programs.
pub(crate) fn check_way(path: &Path, follows_last: bool) -> io::Result<()> {
    if is_state(&follow(path, follows_last)) {
        return refuse(libc::ENOENT);
    }
    Ok(())
}

pub(crate) fn open_options(flags: i32, mode: u32) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let access = flags & libc::O_ACCMODE;
    // The library's checks of these options refuse combinations that the kernel accepts, such as creating a file that
    // is only read.
    let made = libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC | libc::O_APPEND;
    let kept = made | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_PATH;
    let mut options = File::options();
    options
        .read(access != libc::O_WRONLY)
        .write(access != libc::O_RDONLY)
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
        assert_eq!(files.duplicate(2, 0, false).unwrap(), 1);
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
            assert_eq!(shared.borrow().read(&mut bytes, 0).unwrap(), 32);
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
            let status = files.status(&path, true).unwrap().bytes();
            u64::from_le_bytes(status[8..16].try_into().unwrap())
        };
        assert_eq!([inode("one"), inode("two"), inode("one")], [2, 3, 2]);
    }

    #[test]
    fn numbers_are_used_again_lowest_first() {
        let mut files = Files::new(Input::default(), false, None).unwrap();
        assert_eq!(files.duplicate(1, 0, false).unwrap(), 3);
        assert_eq!(files.duplicate(1, 10, false).unwrap(), 10);
        files.close(0).unwrap();
        assert_eq!(files.duplicate(2, 0, false).unwrap(), 0);
        assert_eq!(files.get(99).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
