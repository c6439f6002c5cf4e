use crate::RtlError;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

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

    /// An empty folder to build in, of this process alone.
    pub(crate) fn workspace(&self, key: &str) -> Result<PathBuf, RtlError> {
        let folder = self.folder.join(format!("{key}.{}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(RtlError::file(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(RtlError::file(&folder))?;
        Ok(folder)
    }

    /// Keeps `library` under `key` and removes the workspace. The rename is atomic, so that an
    /// interrupted or concurrent build leaves a whole library or none.
    pub(crate) fn keep(&self, key: &str, library: &Path, workspace: &Path) -> Result<PathBuf, RtlError> {
        let path = self.path(key);
        fs::rename(library, &path).map_err(RtlError::file(&path))?;
        fs::remove_dir_all(workspace).map_err(RtlError::file(workspace))?;
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
    use super::key;

    #[test]
    fn the_key_depends_on_where_parts_end() {
        let one = key([b"ab".as_slice(), b"c"]);
        let other = key([b"a".as_slice(), b"bc"]);
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
    }
}
