use crate::Wire;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// A TAP device: a network interface of the machine whose cable ends in the simulated network.
#[derive(Debug)]
pub struct Tap(File);

impl Tap {
    /// The device of that name; it is created if it does not exist, which requires privileges.
    ///
    /// # Errors
    /// When the name is too long, or the kernel refuses.
    pub fn new(name: &str) -> io::Result<Tap> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        // SAFETY: an interface request is plain data, for which zeros are valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        if name.is_empty() || name.len() >= request.ifr_name.len() {
            return Err(io::Error::other("an interface has a name of 1 to 15 bytes"));
        }
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the request outlives the call, and has the layout that the kernel reads.
        match unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &request) } {
            0 => Ok(Tap(file)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Wire for Tap {
    fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.0.read(buffer).ok()
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        self.0.write(frame).is_ok()
    }
}
