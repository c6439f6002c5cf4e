//! Sockets, which connect only the program's own threads: the host's network is not accessible.

use super::events::store_pair;
use super::{number, refuse, Call};
use crate::descriptor::Descriptor;
use crate::family::ProcessId;
use crate::files::Shared;
use crate::follow::follow;
use crate::gather;
use crate::log::Missing;
use crate::process::Process;
use crate::sockets::{Address, Domain, File, Kind, Options, Socket};
use rackwright_memory::GuestMemory;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The bits of a socket's type that are the type.
const KIND: i32 = 0xf;
/// Bytes of `struct ucred`.
const CREDENTIALS: usize = 12;

impl Process {
    pub(super) fn socket_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, ..] = call.arguments;
        match number {
            number::SOCKET => {
                let (domain, kind) = self.kinds(call.arguments)?;
                let socket = Socket::new(domain, kind, &self.activity);
                self.add_socket(socket, second as i32)
            }
            number::SOCKETPAIR => {
                let (Domain::Local, kind) = self.kinds(call.arguments)? else {
                    return refuse(libc::EOPNOTSUPP);
                };
                let [one, other] = Socket::pair(kind, &self.activity);
                let numbers = [
                    self.add_socket(one, second as i32)?,
                    self.add_socket(other, second as i32)?,
                ];
                store_pair(call.memory, fourth, numbers)
            }
            number::BIND => self.bind(call),
            number::LISTEN => {
                let shared = self.files.get(first)?;
                socket(&mut shared.borrow())?.listen(&mut self.names(), second as i32)?;
                Ok(0)
            }
            number::ACCEPT => self.accept(call, 0),
            number::ACCEPT4 => self.accept(call, fourth as i32),
            number::CONNECT => self.connect(call),
            number::GETSOCKNAME => {
                let shared = self.files.get(first)?;
                let address = socket(&mut shared.borrow())?.address().clone();
                Address::store(Some(&address), call.memory, second, third)
            }
            number::GETPEERNAME => {
                let shared = self.files.get(first)?;
                let address = socket(&mut shared.borrow())?.peer()?;
                Address::store(Some(&address), call.memory, second, third)
            }
            number::SETSOCKOPT => self.set_option(call),
            number::GETSOCKOPT => self.option(call),
            number::SHUTDOWN => {
                let shared = self.files.get(first)?;
                let how = second as i32;
                if !(libc::SHUT_RD..=libc::SHUT_RDWR).contains(&how) {
                    return refuse(libc::EINVAL);
                }
                let result = socket(&mut shared.borrow())?.shut(how != libc::SHUT_WR, how != libc::SHUT_RD);
                result.map(|()| 0)
            }
            _ => self.message_call(number, call),
        }
    }

    /// Domain and kind of `socket(domain, kind, protocol)`.
    fn kinds(&mut self, arguments: [u64; 6]) -> io::Result<(Domain, Kind)> {
        let [domain, kind, protocol] = [0, 1, 2].map(|index| arguments[index] as i32);
        if kind & !(KIND | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) != 0 {
            return refuse(libc::EINVAL);
        }
        let domain = match domain {
            libc::AF_INET => Domain::Internet,
            libc::AF_INET6 => Domain::Internet6,
            libc::AF_UNIX => Domain::Local,
            _ => return refuse(libc::EAFNOSUPPORT),
        };
        let (kind, own_protocol) = match kind & KIND {
            libc::SOCK_STREAM => (Kind::Stream, libc::IPPROTO_TCP),
            libc::SOCK_DGRAM => (Kind::Datagram, libc::IPPROTO_UDP),
            _ => {
                self.unknown.record(number::SOCKET);
                return refuse(libc::ESOCKTNOSUPPORT);
            }
        };
        let known = if domain == Domain::Local {
            libc::PF_UNIX
        } else {
            own_protocol
        };
        if protocol != 0 && protocol != known {
            return refuse(libc::EPROTONOSUPPORT);
        }
        Ok((domain, kind))
    }

    fn add_socket(&mut self, socket: Socket, flags: i32) -> io::Result<u64> {
        let kept = flags & (libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
        self.files
            .add(Descriptor::Socket(Box::new(socket)), kept | libc::O_RDWR)
    }

    fn bind(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [descriptor, place, length, ..] = call.arguments;
        let shared = self.files.get(descriptor)?;
        let mut descriptor = shared.borrow();
        let socket = socket(&mut descriptor)?;
        let Some(address) = Address::load(call.memory, place, length)? else {
            return refuse(libc::EAFNOSUPPORT);
        };
        let path = path_of(&address).map(|path| self.located(path));
        let Some(path) = path.filter(|_| socket.domain == Domain::Local) else {
            return socket.bind(&mut self.names(), address, None).map(|()| 0);
        };
        self.files.check_entry(&path)?;
        if fs::symlink_metadata(&path).is_ok() {
            return refuse(libc::EADDRINUSE);
        }
        make_socket_file(&path)?;
        let metadata = fs::symlink_metadata(&path)?;
        let file = (metadata.dev(), metadata.ino());
        socket.bind(&mut self.names(), address, Some(file)).map(|()| 0)
    }

    /// The absolute path of a local address.
    fn located(&self, path: &Path) -> PathBuf {
        self.folder
            .as_ref()
            .map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
    }

    /// The file of a local address, which has to be a socket; none for other addresses.
    fn file_of(&self, address: &Address) -> io::Result<Option<File>> {
        let Some(path) = path_of(address).map(|path| follow(&self.located(path), true)) else {
            return Ok(None);
        };
        crate::files::check_readable(&path)?;
        let metadata = fs::metadata(path)?;
        if !metadata.file_type().is_socket() {
            return refuse(libc::ECONNREFUSED);
        }
        Ok(Some((metadata.dev(), metadata.ino())))
    }

    fn accept(&mut self, call: &mut Call<'_>, flags: i32) -> io::Result<u64> {
        let [descriptor, place, length, ..] = call.arguments;
        if flags & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) != 0 {
            return refuse(libc::EINVAL);
        }
        let shared = self.files.get(descriptor)?;
        // Before a connection is taken that there is no number for.
        self.files.free(0)?;
        let accepted = socket(&mut shared.borrow())?.accept()?;
        let peer = accepted.peer()?;
        let number = self.add_socket(accepted, flags)?;
        Address::store(Some(&peer), call.memory, place, length)?;
        Ok(number)
    }

    fn connect(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [descriptor, place, length, ..] = call.arguments;
        let shared = self.files.get(descriptor)?;
        let waits = !shared.is_nonblocking();
        let to = Address::load(call.memory, place, length)?;
        let file = to.as_ref().map_or(Ok(None), |to| self.file_of(to))?;
        let result = socket(&mut shared.borrow())?.connect(&mut self.names(), to, file, waits);
        self.name_unreachable(result).map(|()| 0)
    }

    /// Records, for the end of the run, that the program has tried to reach another machine.
    fn name_unreachable<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if matches!(&result, Err(error) if error.raw_os_error() == Some(libc::ENETUNREACH)) {
            self.unknown.record_part(Missing::Network);
        }
        result
    }

    /// Sends `bytes` through a socket, to the address with this length and place, or to its peer.
    pub(super) fn send(
        &mut self,
        memory: &GuestMemory,
        shared: &Shared,
        bytes: &[u8],
        (place, length): (u64, u64),
    ) -> io::Result<u64> {
        let to = if place == 0 || length == 0 {
            None
        } else {
            Address::load(memory, place, length)?
        };
        let to = match to {
            Some(to) => {
                let file = self.file_of(&to)?;
                Some((to, file))
            }
            None => None,
        };
        let result = socket(&mut shared.borrow())?.send(&mut self.names(), bytes, to);
        self.name_unreachable(result).map(|count| count as u64)
    }

    fn set_option(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [descriptor, level, name, value, length, _] = call.arguments;
        let shared = self.files.get(descriptor)?;
        let mut descriptor = shared.borrow();
        let socket = socket(&mut descriptor)?;
        let known = Options::length(level as i32, name as i32)?;
        if (length as u32 as usize) < known {
            return refuse(libc::EINVAL);
        }
        let bytes = gather::bytes(call.memory, value, known as u64)?;
        socket.options.set(level as i32, name as i32, bytes);
        Ok(0)
    }

    fn option(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [descriptor, level, name, value, length, _] = call.arguments;
        let room = gather::half_word(call.memory, length)?;
        let shared = self.files.get(descriptor)?;
        let mut descriptor = shared.borrow();
        let socket = socket(&mut descriptor)?;
        let bytes = if level as i32 == libc::SOL_SOCKET {
            told(socket, name as i32, self.id)?
        } else {
            socket.options.get(level as i32, name as i32)?
        };
        let count = bytes.len().min(room as usize);
        call.memory.write(value, &bytes[..count]).map_err(gather::fault)?;
        call.memory
            .write(length, &(count as u32).to_le_bytes())
            .map_err(gather::fault)?;
        Ok(0)
    }
}

/// The socket that a descriptor is.
pub(super) fn socket(descriptor: &mut Descriptor) -> io::Result<&mut Socket> {
    match descriptor {
        Descriptor::Socket(socket) => Ok(socket),
        _ => refuse(libc::ENOTSOCK),
    }
}

/// An option of every socket, or a value reported in the same way.
fn told(socket: &mut Socket, name: i32, id: ProcessId) -> io::Result<Vec<u8>> {
    let value = match name {
        libc::SO_ERROR => socket.take_error(),
        libc::SO_ACCEPTCONN => socket.is_listening().into(),
        libc::SO_TYPE => match socket.kind {
            Kind::Stream => libc::SOCK_STREAM,
            Kind::Datagram => libc::SOCK_DGRAM,
        },
        libc::SO_DOMAIN => match socket.domain {
            Domain::Internet => libc::AF_INET,
            Domain::Internet6 => libc::AF_INET6,
            Domain::Local => libc::AF_UNIX,
        },
        libc::SO_PROTOCOL => match (socket.domain, socket.kind) {
            (Domain::Local, _) => 0,
            (_, Kind::Stream) => libc::IPPROTO_TCP,
            (_, Kind::Datagram) => libc::IPPROTO_UDP,
        },
        libc::SO_PEERCRED => {
            let mut bytes = vec![0; CREDENTIALS];
            bytes[..4].copy_from_slice(&(id as u32).to_le_bytes());
            return Ok(bytes);
        }
        _ => return socket.options.get(libc::SOL_SOCKET, name),
    };
    Ok(value.to_le_bytes().to_vec())
}

/// The path of a local address, if it has one.
fn path_of(address: &Address) -> Option<&Path> {
    match address {
        Address::Local(name) if name.first().is_some_and(|byte| *byte != 0) => {
            Some(Path::new(OsStr::from_bytes(name)))
        }
        _ => None,
    }
}

/// Creates the file that is the name of a local socket; programs outside of the simulation cannot connect to it.
fn make_socket_file(path: &Path) -> io::Result<()> {
    let text = std::ffi::CString::new(path.as_os_str().as_bytes()).or(refuse(libc::EINVAL))?;
    // SAFETY: the path is a string that lives as long as the call.
    if unsafe { libc::mknod(text.as_ptr(), libc::S_IFSOCK | 0o777, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
