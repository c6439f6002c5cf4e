use crate::RtlError;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Compiled designs by content: the same Verilog, host and compiler are compiled once.
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

    /// The library kept under `key`, if there is one.
    pub(crate) fn find(&self, key: &str) -> Option<PathBuf> {
        let path = self.path(key);
        path.is_file().then_some(path)
    }

    /// An empty folder to build in, of this call alone: other threads, processes and hosts that share the cache
    /// may be at the same design. It is removed when dropped.
    pub(crate) fn workspace(&self, key: &str) -> Result<TempDir, RtlError> {
        fs::create_dir_all(&self.folder).map_err(RtlError::file(&self.folder))?;
        tempfile::Builder::new()
            .prefix(&format!("{key}."))
            .tempdir_in(&self.folder)
            .map_err(RtlError::file(&self.folder))
    }

    /// Keeps `library` under `key`. The rename is atomic, so that an interrupted or concurrent build leaves a
    /// whole library or none.
    pub(crate) fn keep(&self, key: &str, library: &Path) -> Result<PathBuf, RtlError> {
        let path = self.path(key);
        fs::rename(library, &path).map_err(RtlError::file(&path))?;
        Ok(path)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.so"))
    }
}

/// A key over everything that a build depends on. Parts are separated by their lengths.
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

    #[test]
    fn two_builds_of_a_design_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let (one, other) = (cache.workspace("k").unwrap(), cache.workspace("k").unwrap());
        assert_ne!(one.path(), other.path());
        for (workspace, text) in [(&one, "one"), (&other, "other")] {
            let library = workspace.path().join("unit.so");
            std::fs::write(&library, text).unwrap();
            cache.keep("k", &library).unwrap();
        }
        drop((one, other));
        assert_eq!(std::fs::read(cache.find("k").unwrap()).unwrap(), b"other");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn the_key_depends_on_where_parts_end() {
        let one = key([b"ab".as_slice(), b"c"]);
        let other = key([b"a".as_slice(), b"bc"]);
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
    }
}
