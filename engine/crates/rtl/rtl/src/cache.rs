use crate::RtlError;
use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Compiled designs, by content: the same compiler compiles the same sources only once.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache in `folder`, which is created when first needed.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
        }
    }

    /// The cached file `name`, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name);
        path.is_file().then_some(path)
    }

    /// The cached file `name`, or the file that `build` creates in an empty folder, which is then cached.
    ///
    /// Other threads and processes that request the same file at the same time wait for it.
    pub(crate) fn find_or_build(
        &self,
        name: &str,
        build: impl FnOnce(&Path) -> Result<PathBuf, RtlError>,
    ) -> Result<PathBuf, RtlError> {
        if let Some(path) = self.find(name) {
            return Ok(path);
        }
        fs::create_dir_all(&self.folder).map_err(RtlError::file(&self.folder))?;
        let _turn = Turn::wait(self.folder.join(format!("{name}.lock")))?;
        if let Some(path) = self.find(name) {
            return Ok(path);
        }
        let workspace = self.workspace(name)?;
        self.keep(name, &build(workspace.path())?)
    }

    /// Executes `work` in an empty folder, which is removed afterwards.
    pub(crate) fn in_workspace<T>(
        &self,
        name: &str,
        act: impl FnOnce(&Path) -> Result<T, RtlError>,
    ) -> Result<T, RtlError> {
        fs::create_dir_all(&self.folder).map_err(RtlError::file(&self.folder))?;
        act(self.workspace(name)?.path())
    }

    /// An empty folder to build in, of this call alone. It is removed when dropped.
    fn workspace(&self, name: &str) -> Result<TempDir, RtlError> {
        tempfile::Builder::new()
            .prefix(&format!("{name}."))
            .tempdir_in(&self.folder)
            .map_err(RtlError::file(&self.folder))
    }

    /// Keeps `file` under `name`. The rename is atomic, so that an interrupted build leaves either a complete file or
    /// none; this also holds for hosts that share a folder without its locks.
    pub(crate) fn keep(&self, name: &str, file: &Path) -> Result<PathBuf, RtlError> {
        let path = self.folder.join(name);
        fs::rename(file, &path).map_err(RtlError::file(&path))?;
        Ok(path)
    }
}

/// The right to build one file, until it is dropped. The system takes it from a process that ends.
struct Turn {
    path: PathBuf,
    _lock: File,
}

impl Turn {
    fn wait(path: PathBuf) -> Result<Turn, RtlError> {
        let lock = File::create(&path).map_err(RtlError::file(&path))?;
        match flock(&lock, FlockOperation::LockExclusive) {
            // Without locks, a design may be built twice, which does no harm.
            Ok(()) | Err(Errno::NOTSUP | Errno::NOLCK) => Ok(Turn { path, _lock: lock }),
            Err(error) => Err(RtlError::file(&path)(error.into())),
        }
    }
}

impl Drop for Turn {
    /// Waiting processes have the file open, and later ones find the design.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The name of a library whose build depends on all these parts.
pub(crate) fn library<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    format!("{}.so", key(parts))
}

/// A key of all inputs of a build. Parts are separated by their lengths.
pub(crate) fn key<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{key, Cache};
    use crate::RtlError;
    use std::io::ErrorKind;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_design_that_several_want_is_built_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let builds = AtomicUsize::new(0);
        let build = |workspace: &Path| {
            let library = workspace.join("unit.so");
            std::fs::write(&library, builds.fetch_add(1, Ordering::SeqCst).to_string()).unwrap();
            Ok(library)
        };
        std::thread::scope(|scope| {
            let wanted = [(); 4].map(|()| scope.spawn(|| cache.find_or_build("k", build).unwrap()));
            for thread in wanted {
                assert_eq!(std::fs::read(thread.join().unwrap()).unwrap(), b"0");
            }
        });
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_build_that_fails_leaves_nothing_and_the_next_one_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let failed = cache.find_or_build("k", |workspace| {
            std::fs::write(workspace.join("half"), "").unwrap();
            Err(RtlError::file(workspace)(ErrorKind::Other.into()))
        });
        assert!(failed.is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let made = cache.find_or_build("k", |workspace| {
            let library = workspace.join("unit.so");
            std::fs::write(&library, "").unwrap();
            Ok(library)
        });
        assert!(made.unwrap().is_file());
    }

    #[test]
    fn the_key_depends_on_where_parts_end() {
        let one = key([b"ab".as_slice(), b"c"]);
        let other = key([b"a".as_slice(), b"bc"]);
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
    }
}
