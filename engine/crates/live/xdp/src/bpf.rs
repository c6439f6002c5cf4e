//! The system call `bpf`: maps, programs and links. All objects are released with their descriptors.

use crate::instruction::Instruction;
use crate::XdpError;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const MAP_DELETE: libc::c_int = 3;
const PROGRAM_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;

const PROGRAM_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;

/// The kind of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MapKind {
    Hash = 1,
    Sockets = 17,
}

/// Executes a command with its attributes. Structures shorter than the kernel's are filled up with zeros by the kernel.
fn call<T>(command: libc::c_int, attributes: &T) -> io::Result<RawFd> {
    // SAFETY: the structure lives through the call; pointers in it are the business of those who call this.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            (&raw const *attributes),
            size_of::<T>() as libc::c_uint,
        )
    };
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result as RawFd),
    }
}

fn owned(descriptor: RawFd) -> OwnedFd {
    // SAFETY: the kernel has just made it for this call.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn refused(what: &'static str, error: io::Error) -> XdpError {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => XdpError::NoBpf,
        _ => XdpError::of(what, error),
    }
}

/// A map.
#[derive(Debug)]
pub(crate) struct Map(OwnedFd);

impl Map {
    /// An empty map, with keys and values of these sizes.
    pub(crate) fn create(kind: MapKind, key: usize, value: usize, entries: usize) -> Result<Map, XdpError> {
        let sizes = [key, value, entries].map(|size| size as u32);
        let attributes = [kind as u32, sizes[0], sizes[1], sizes[2]];
        call(MAP_CREATE, &attributes)
            .map(|map| Map(owned(map)))
            .map_err(|error| refused("making a map for BPF", error))
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Sets the value of a key.
    pub(crate) fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        call(MAP_UPDATE, &self.element(key, value)).map(drop)
    }

    /// Takes it away.
    pub(crate) fn remove(&self, key: &[u8]) -> io::Result<()> {
        call(MAP_DELETE, &self.element(key, &[])).map(drop)
    }

    fn element(&self, key: &[u8], value: &[u8]) -> Element {
        Element {
            map: self.descriptor() as u32,
            padding: 0,
            key: key.as_ptr() as u64,
            value: value.as_ptr() as u64,
            flags: 0,
        }
    }
}

#[repr(C)]
struct Element {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct Load {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach: u32,
}

/// A program that the kernel has checked.
#[derive(Debug)]
pub(crate) struct Program(OwnedFd);

impl Program {
    /// Loads a program for XDP.
    pub(crate) fn load(code: &[Instruction]) -> Result<Program, XdpError> {
        let load = Load {
            kind: PROGRAM_XDP,
            instructions: code.len() as u32,
            code: code.as_ptr() as u64,
            license: c"Apache-2.0".as_ptr() as u64,
            log_level: 0,
            log_bytes: 0,
            log: 0,
            kernel: 0,
            flags: 0,
            name: *b"rw_dispatch\0\0\0\0\0",
            interface: 0,
            attach: ATTACH_XDP,
        };
        call(PROGRAM_LOAD, &load)
            .map(|program| Program(owned(program)))
            .map_err(|error| refused("loading a program of BPF", error))
    }

    /// Attaches it to an interface, with flags of XDP, until the returned value is dropped or the process ends.
    pub(crate) fn attach(&self, interface: u32, flags: u32) -> io::Result<OwnedFd> {
        let attributes = [self.0.as_raw_fd() as u32, interface, ATTACH_XDP, flags];
        call(LINK_CREATE, &attributes).map(owned)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::Cell;

    const PROGRAM_TEST_RUN: libc::c_int = 10;

    #[repr(C)]
    struct Run {
        program: u32,
        /// The kernel writes this.
        result: Cell<u32>,
        bytes: u32,
        room: u32,
        data: u64,
        output: u64,
        repeat: u32,
        nanoseconds: Cell<u32>,
    }

    impl Program {
        /// The program's result for a frame.
        pub(crate) fn run(&self, frame: &[u8]) -> io::Result<u32> {
            let mut output = vec![0_u8; 1 << 16];
            let run = Run {
                program: self.0.as_raw_fd() as u32,
                result: Cell::default(),
                bytes: frame.len() as u32,
                room: output.len() as u32,
                data: frame.as_ptr() as u64,
                output: output.as_mut_ptr() as u64,
                repeat: 1,
                nanoseconds: Cell::default(),
            };
            call(PROGRAM_TEST_RUN, &run)?;
            Ok(run.result.get())
        }
    }
}
