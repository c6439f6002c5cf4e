use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

/// The transport of frames between a simulated network and the machine; its functions do not wait.
pub trait Wire: Send + Sync {
    /// Writes the next frame from the machine to the beginning of `buffer`; returns its length.
    fn receive(&mut self, buffer: &mut [u8]) -> Option<usize>;

    /// Passes a frame to the machine; returns whether it was accepted.
    fn send(&mut self, frame: &[u8]) -> bool;
}

/// A UNIX datagram socket, one frame a datagram. Frames are sent to the sender of the last received one.
#[derive(Debug)]
pub struct Socket {
    socket: UnixDatagram,
    path: PathBuf,
    peer: Option<SocketAddr>,
}

impl Socket {
    /// A socket at an unused path; the file is removed with it.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(path: &Path) -> io::Result<Socket> {
        let socket = UnixDatagram::bind(path)?;
        socket.set_nonblocking(true)?;
        Ok(Socket {
            socket,
            path: path.to_path_buf(),
            peer: None,
        })
    }
}

impl Wire for Socket {
    fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let (length, from) = self.socket.recv_from(buffer).ok()?;
        self.peer = Some(from);
        Some(length)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        let Some(peer) = &self.peer else {
            return false;
        };
        self.socket.send_to_addr(frame, peer).is_ok()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // It may have been removed already.
        let _ = std::fs::remove_file(&self.path);
    }
}
