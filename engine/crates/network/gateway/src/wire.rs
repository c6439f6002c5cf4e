use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

/// What carries frames between a simulated network and the machine; nothing here waits.
pub trait Wire: Send + Sync {
    /// The next frame from the machine, put at the beginning of `buffer`: how long it is.
    fn receive(&mut self, buffer: &mut [u8]) -> Option<usize>;

    /// Gives a frame to the machine; tells whether it was taken.
    fn send(&mut self, frame: &[u8]) -> bool;
}

/// A UNIX datagram socket, one frame a datagram. Frames go to whoever has sent the last one.
#[derive(Debug)]
pub struct Socket {
    socket: UnixDatagram,
    path: PathBuf,
    peer: Option<SocketAddr>,
}

impl Socket {
    /// A socket at a path where there is nothing yet; the file is removed with it.
    ///
    /// # Errors
    /// When it cannot be made.
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
        // Somebody may have removed it already.
        let _ = std::fs::remove_file(&self.path);
    }
}
