use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Permissions of a file that stands for standard input or output: a pipe that its owner may read and write.
const PIPE_MODE: u32 = libc::S_IFIFO | 0o600;
const BLOCK_BYTES: u32 = 4096;
/// Bytes of what `st_blocks` counts.
const SECTOR_BYTES: u64 = 512;
/// The number of the first file; below are those of pipes and of nothing.
const FIRST_INODE: u64 = 2;

/// Numbers files in the order in which a program comes to see them: those of the host differ from host to host.
#[derive(Debug, Default)]
pub(crate) struct Inodes {
    numbers: BTreeMap<(u64, u64), u64>,
}

impl Inodes {
    /// What the status calls tell of a file of the host.
    pub(crate) fn status(&mut self, metadata: &Metadata) -> Status {
        let next = FIRST_INODE + self.numbers.len() as u64;
        let inode = *self
            .numbers
            .entry((metadata.dev(), metadata.ino()))
            .or_insert(next);
        // How large a folder is and how many links it has is up to the host's file system.
        let size = if metadata.is_dir() {
            BLOCK_BYTES.into()
        } else {
            metadata.len()
        };
        Status {
            inode,
            mode: metadata.mode(),
            links: if metadata.is_dir() {
                1
            } else {
                metadata.nlink() as u32
            },
            size,
            blocks: size.div_ceil(SECTOR_BYTES),
        }
    }
}

/// What the status calls tell of a file. Times are zero: they would differ from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    inode: u64,
    mode: u32,
    links: u32,
    size: u64,
    blocks: u64,
}

impl Status {
    pub(crate) fn of_pipe() -> Status {
        Status {
            inode: 1,
            mode: PIPE_MODE,
            links: 1,
            size: 0,
            blocks: 0,
        }
    }

    /// The kernel's `struct stat` of 64-bit RISC-V (128 bytes).
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        let mut number = |value: u64, bytes: usize| out.extend_from_slice(&value.to_le_bytes()[..bytes]);
        number(0, 8); // st_dev
        number(self.inode, 8);
        number(self.mode.into(), 4);
        number(self.links.into(), 4);
        number(0, 4); // st_uid
        number(0, 4); // st_gid
        number(0, 8); // st_rdev
        number(0, 8); // padding
        number(self.size, 8);
        number(BLOCK_BYTES.into(), 4);
        number(0, 4); // padding
        number(self.blocks, 8);
        (0..6).for_each(|_| number(0, 8)); // three times, in seconds and nanoseconds
        number(0, 8); // unused
        out
    }

    /// The kernel's `struct statx` (256 bytes), with the basic fields.
    pub(crate) fn extended_bytes(&self) -> Vec<u8> {
        const BASIC: u64 = 0x7ff;
        let mut out = Vec::with_capacity(256);
        let mut number = |value: u64, bytes: usize| out.extend_from_slice(&value.to_le_bytes()[..bytes]);
        number(BASIC, 4);
        number(BLOCK_BYTES.into(), 4);
        number(0, 8); // attributes
        number(self.links.into(), 4);
        number(0, 4); // uid
        number(0, 4); // gid
        number(u64::from(self.mode), 2);
        number(0, 2); // padding
        number(self.inode, 8);
        number(self.size, 8);
        number(self.blocks, 8);
        out.resize(256, 0);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_kernels_sizes() {
        assert_eq!(Status::of_pipe().bytes().len(), 128);
        assert_eq!(Status::of_pipe().extended_bytes().len(), 256);
        assert_eq!(Status::of_pipe().bytes()[16..20], PIPE_MODE.to_le_bytes());
    }
}
