//! The files of an initial file system: archives in cpio's "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst of
//! the kernel).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The files that a machine was started with, by path.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Arc<[u8]>,
    files: BTreeMap<String, Range<usize>>,
}

const HEAD: usize = 110;

impl Archive {
    /// The files of one or more uncompressed archives, one after the other; unreadable files are omitted.
    pub(crate) fn new(bytes: &[u8]) -> Archive {
        let mut archive = Archive {
            bytes: bytes.into(),
            files: BTreeMap::new(),
        };
        let mut at = 0;
        while let Some((name, content, next)) = entry(&archive.bytes, at) {
            archive.files.insert(name, content);
            at = next;
        }
        archive
    }

    /// The paths of all files, from the top folder on.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The content of a file; `path` is absolute.
    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        let range = self.files.get(path.trim_start_matches('/'))?;
        self.bytes.get(range.clone())
    }
}

fn entry(bytes: &[u8], at: usize) -> Option<(String, Range<usize>, usize)> {
    // Between archives there may be zeros.
    let skipped = bytes.get(at..)?.iter().position(|byte| *byte != 0)?;
    let at = at + skipped;
    let head = bytes.get(at..at + HEAD)?;
    if !head.starts_with(b"07070") {
        return None;
    }
    let field = |number: usize| {
        let text = std::str::from_utf8(head.get(6 + 8 * number..14 + 8 * number)?).ok()?;
        usize::from_str_radix(text, 16).ok()
    };
    let (length, name_length) = (field(6)?, field(11)?);
    let name = bytes.get(at + HEAD..(at + HEAD + name_length).checked_sub(1)?)?;
    let name = String::from_utf8_lossy(name).trim_start_matches("./").to_string();
    let content = at + (HEAD + name_length).next_multiple_of(4);
    let next = content + length.next_multiple_of(4);
    Some((name, content..content + length, next))
}
