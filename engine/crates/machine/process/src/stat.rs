use rackwright_state::state;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Permissions of standard input or output: a pipe that its owner may read and write.
const PIPE_MODE: u32 = libc::S_IFIFO | 0o600;
const SOCKET_MODE: u32 = libc::S_IFSOCK | 0o777;
/// Permissions of a file that all users may read.
const TEXT_MODE: u32 = libc::S_IFREG | 0o444;
const PROGRAM_MODE: u32 = libc::S_IFREG | 0o755;
const LINK_MODE: u32 = libc::S_IFLNK | 0o777;
const BLOCK_BYTES: u32 = 4096;
/// Size of the units of `st_blocks`.
const SECTOR_BYTES: u64 = 512;
/// The number of the first file; lower numbers are those of pipes and of none.
const FIRST_INODE: u64 = 2;

/// Numbers files in the order in which a program first sees them, since the host's numbers differ between hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inodes {
    numbers: BTreeMap<(u64, u64), u64>,
    /// Number of files so far.
    count: u64,
    /// Times that programs have set, by number.
    times: BTreeMap<u64, [Time; 2]>,
}

/// Seconds and nanoseconds.
pub(crate) type Time = (u64, u64);

state!(Inodes {
    numbers,
    count,
    times
});

impl Inodes {
    /// The number of a file of the host.
    pub(crate) fn number(&mut self, metadata: &Metadata) -> u64 {
        if let Some(number) = self.numbers.get(&place(metadata)) {
            return *number;
        }
        let number = self.next();
        self.numbers.insert(place(metadata), number);
        number
    }

    /// The number of a new file without a name.
    pub(crate) fn next(&mut self) -> u64 {
        self.count += 1;
        FIRST_INODE + self.count - 1
    }

    /// Records that a file has been removed, whose number the host may assign to another one. Tells its number.
    pub(crate) fn forget(&mut self, metadata: &Metadata) -> Option<u64> {
        self.numbers.remove(&place(metadata))
    }

    /// Records the times, in seconds and nanoseconds, of the last access and the last change of a file, which a program
    /// has set; `None` leaves one unchanged. A file without names has the number in `inode`.
    pub(crate) fn set_times(&mut self, metadata: &Metadata, inode: Option<u64>, times: [Option<Time>; 2]) {
        let number = inode.unwrap_or_else(|| self.number(metadata));
        let known = self.times.entry(number).or_default();
        for (known, time) in known.iter_mut().zip(times) {
            *known = time.unwrap_or(*known);
        }
    }

    /// The status of a file of the host that has a name.
    pub(crate) fn status(&mut self, metadata: &Metadata) -> Status {
        self.status_of(metadata, None)
    }

    /// The same for a file with the number in `inode`, if it has no name any more.
    pub(crate) fn status_of(&mut self, metadata: &Metadata, inode: Option<u64>) -> Status {
        let inode = inode.unwrap_or_else(|| self.number(metadata));
        // The size of a folder and its number of links depend on the host's file system.
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
            times: self.times.get(&inode).copied().unwrap_or_default(),
        }
    }
}

/// The host's numbers of a file.
fn place(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The status of a file. Times that the program has not set are zero: they would differ from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    inode: u64,
    mode: u32,
    links: u32,
    size: u64,
    blocks: u64,
    /// Of the last access, and the last change.
    times: [Time; 2],
}

impl Status {
    pub(crate) fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }

    pub(crate) fn of_pipe() -> Status {
        Status::of_mode(PIPE_MODE)
    }

    pub(crate) fn of_socket() -> Status {
        Status::of_mode(SOCKET_MODE)
    }

    /// The status of the simulator's data about the program.
    pub(crate) fn of_text(size: u64) -> Status {
        Status {
            size,
            ..Status::of_mode(TEXT_MODE)
        }
    }

    /// Of the program's own file.
    pub(crate) fn of_program(size: u64) -> Status {
        Status {
            size,
            blocks: size.div_ceil(SECTOR_BYTES),
            ..Status::of_mode(PROGRAM_MODE)
        }
    }

    /// The status of a link to a path of `size` bytes.
    pub(crate) fn of_link(size: u64) -> Status {
        Status {
            size,
            ..Status::of_mode(LINK_MODE)
        }
    }

    fn of_mode(mode: u32) -> Status {
        Status {
            inode: 1,
            mode,
            links: 1,
            size: 0,
            blocks: 0,
            times: Default::default(),
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
        let [accessed, changed] = self.times;
        for (seconds, nanoseconds) in [accessed, changed, changed] {
            number(seconds, 8);
            number(nanoseconds, 8);
        }
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
        number(0, 8); // mask of attributes
        let [accessed, changed] = self.times;
        // The second is the time of creation, which is unknown.
        for (seconds, nanoseconds) in [accessed, (0, 0), changed, changed] {
            number(seconds, 8);
            number(nanoseconds, 8);
        }
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
