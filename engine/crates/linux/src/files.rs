use crate::descriptor::Descriptor;
use crate::stat::Status;
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
    write_folder: Option<PathBuf>,
}

impl Files {
    /// With standard input, output and error.
    pub(crate) fn new(input: Vec<u8>, echo: bool, write_folder: Option<&Path>) -> io::Result<Files> {
        let write_folder = write_folder.map(fs::canonicalize).transpose()?;
        let standard = [
            Descriptor::Input {
                bytes: input,
                position: 0,
            },
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
        ];
        let open = standard.into_iter().map(|one| Some(Shared::new(one))).collect();
        Ok(Files { open, write_folder })
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
        let file = open_options(flags, mode).open(path)?;
        if flags & libc::O_DIRECTORY != 0 && !file.metadata()?.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        }
        let path = fs::canonicalize(path)?;
        self.insert(Shared::new(Descriptor::Host { file, path }), 0)
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

    pub(crate) fn status(&self, path: &Path) -> io::Result<Status> {
        Ok(Status::of_file(&fs::metadata(path)?))
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
    pub(crate) fn output(&self, number: u64) -> Vec<u8> {
        match self.get(number).as_ref().map(Shared::borrow).as_deref() {
            Ok(Descriptor::Output { bytes, .. }) => bytes.clone(),
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
        let mut files = Files::new(Vec::new(), false, Some(folder.path())).unwrap();
        let create = libc::O_WRONLY | libc::O_CREAT;
        let number = files.open(&folder.path().join("inside"), create, 0o644).unwrap();
        assert_eq!(number, 3);
        let outside = files
            .open(&folder.path().join("../outside"), create, 0o644)
            .unwrap_err();
        assert_eq!(outside.raw_os_error(), Some(libc::EACCES));
        let mut locked = Files::new(Vec::new(), false, None).unwrap();
        let refused = locked
            .open(&folder.path().join("inside"), create, 0o644)
            .unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EACCES));
        assert!(locked
            .open(&folder.path().join("inside"), libc::O_RDONLY, 0)
            .is_ok());
    }

    #[test]
    fn numbers_are_used_again_lowest_first() {
        let mut files = Files::new(Vec::new(), false, None).unwrap();
        assert_eq!(files.duplicate(1, 0).unwrap(), 3);
        assert_eq!(files.duplicate(1, 10).unwrap(), 10);
        files.close(0).unwrap();
        assert_eq!(files.duplicate(2, 0).unwrap(), 0);
        assert_eq!(files.get(99).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
