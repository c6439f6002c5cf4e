//! The entries of a folder, as returned by `getdents64`.

use crate::stat::Inodes;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Bytes before the name in `struct linux_dirent64`.
const HEADER: usize = 19;
/// Entries are aligned to this.
const ALIGNMENT: usize = 8;

/// The entries of a folder at the time when it was first read from its start, in the order of their names, since the
/// host's order differs between hosts.
#[derive(Debug)]
pub(crate) struct Listing {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: Vec<u8>,
    inode: u64,
    kind: u8,
}

impl Listing {
    pub(crate) fn of(folder: &Path, inodes: &mut Inodes) -> io::Result<Listing> {
        let mut names: Vec<_> = fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<_>>()?;
        names.extend([".", ".."].map(|name| OsStr::new(name).to_os_string()));
        names.sort();
        let mut entries = Vec::new();
        for name in names {
            // An entry that has just been removed is omitted.
            let Ok(metadata) = fs::symlink_metadata(folder.join(&name)) else {
                continue;
            };
            entries.push(Entry {
                inode: inodes.number(&metadata),
                kind: kind(metadata.file_type()),
                name: name.as_bytes().to_vec(),
            });
        }
        Ok(Listing { entries })
    }

    /// As many entries as fit in `room` bytes, from the one at `place` on, which is advanced. `EINVAL` when there is no
    /// room for the next one.
    pub(crate) fn take(&self, place: &mut u64, room: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(entry) = self.entry(*place) {
            let length = (HEADER + entry.name.len() + 1).next_multiple_of(ALIGNMENT);
            if bytes.len() + length > room {
                break;
            }
            let end = bytes.len() + length;
            *place += 1;
            bytes.extend_from_slice(&entry.inode.to_le_bytes());
            bytes.extend_from_slice(&place.to_le_bytes());
            bytes.extend_from_slice(&(length as u16).to_le_bytes());
            bytes.push(entry.kind);
            bytes.extend_from_slice(&entry.name);
            bytes.resize(end, 0);
        }
        if bytes.is_empty() && self.entry(*place).is_some() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        Ok(bytes)
    }

    fn entry(&self, place: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(place).ok()?)
    }
}

fn kind(file_type: fs::FileType) -> u8 {
    if file_type.is_dir() {
        libc::DT_DIR
    } else if file_type.is_symlink() {
        libc::DT_LNK
    } else if file_type.is_file() {
        libc::DT_REG
    } else if file_type.is_fifo() {
        libc::DT_FIFO
    } else if file_type.is_socket() {
        libc::DT_SOCK
    } else if file_type.is_char_device() {
        libc::DT_CHR
    } else {
        libc::DT_BLK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_order_and_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a", "c"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let listing = Listing::of(folder.path(), &mut Inodes::default()).unwrap();
        let (mut names, mut place) = (Vec::new(), 0);
        loop {
            let bytes = listing.take(&mut place, 2 * 24).unwrap();
            if bytes.is_empty() {
                break;
            }
            assert_eq!(bytes.len() % 24, 0);
            names.extend(bytes.chunks(24).map(|entry| (entry[18], entry[19..21].to_vec())));
        }
        let expected = [
            (libc::DT_DIR, b".\0"),
            (libc::DT_DIR, b".."),
            (libc::DT_REG, b"a\0"),
            (libc::DT_REG, b"b\0"),
            (libc::DT_REG, b"c\0"),
        ];
        assert_eq!(names, expected.map(|(kind, name)| (kind, name.to_vec())));
        assert!(listing.take(&mut 0, 23).is_err());
    }
}
