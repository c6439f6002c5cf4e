use crate::activity::{event, Readiness};
use crate::calls::refuse;
use crate::channel::{Sink, Source};
use crate::counter::Counter;
use crate::epoll::Epoll;
use crate::input::Reader;
use crate::listing::Listing;
use crate::signal_file::SignalFile;
use crate::sockets::Socket;
use crate::stat::{Inodes, Status};
use crate::timer::Timer;
use rand_chacha::rand_core::RngCore;
use rand_chacha::ChaCha8Rng;
use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The object behind an open descriptor.
#[derive(Debug)]
pub(crate) enum Descriptor {
    /// Standard input.
    Input(Reader),
    /// Random bytes, the same in every run.
    Random(Box<ChaCha8Rng>),
    /// Standard output or error: bytes are stored, and also passed on immediately if requested.
    Output { bytes: Vec<u8>, echo: bool, error: bool },
    /// The simulator's data about the program.
    Text(Cursor<Vec<u8>>),
    /// A file of the host.
    Host(HostFile),
    /// The end of a pipe that is read from.
    Source(Source),
    /// The end of a pipe that is written to.
    Sink(Sink),
    /// An `eventfd`.
    Counter(Counter),
    /// A `timerfd`.
    Timer(Timer),
    /// A `signalfd`.
    Signals(SignalFile),
    /// An `epoll` instance.
    Epoll(Epoll),
    /// A socket of the program's own network.
    Socket(Box<Socket>),
}

/// A file of the host.
#[derive(Debug)]
pub(crate) struct HostFile {
    pub(crate) file: Arc<File>,
    pub(crate) path: PathBuf,
    /// Whether it is the program's own, without a name among the host's files.
    pub(crate) is_own: bool,
    /// The number of a file that has no name, or none any more.
    pub(crate) inode: Option<u64>,
    /// The entries of a folder, and the number of entries read.
    pub(crate) folder: Option<Folder>,
}

/// A folder that is being read.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub(crate) listing: Option<Listing>,
    pub(crate) place: u64,
}

impl Descriptor {
    /// Reads available data; `now` is in nanoseconds.
    pub(crate) fn read(&mut self, into: &mut [u8], now: u64) -> io::Result<usize> {
        match self {
            Descriptor::Input(input) => input.read(into),
            Descriptor::Random(random) => {
                random.fill_bytes(into);
                Ok(into.len())
            }
            Descriptor::Output { .. } | Descriptor::Sink(_) => refuse(libc::EBADF),
            Descriptor::Text(text) => text.read(into),
            Descriptor::Host(host) => (&*host.file).read(into),
            Descriptor::Source(source) => source.read(into),
            Descriptor::Counter(counter) => counter.read(into),
            Descriptor::Timer(timer) => timer.read(into, now),
            // Its signals are read by the thread to which they were sent.
            Descriptor::Signals(_) | Descriptor::Epoll(_) => refuse(libc::EINVAL),
            Descriptor::Socket(socket) => Ok(socket.receive(into, false)?.count),
        }
    }

    pub(crate) fn read_at(&mut self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Descriptor::Host(host) => host.file.read_at(into, offset),
            Descriptor::Text(text) => {
                let bytes = text.get_ref();
                let from = bytes.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
                (&bytes[from..]).read(into)
            }
            _ => refuse(libc::ESPIPE),
        }
    }

    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Descriptor::Input(_) | Descriptor::Random(_) | Descriptor::Text(_) | Descriptor::Source(_) => {
                refuse(libc::EBADF)
            }
            Descriptor::Output { bytes, echo, error } => {
                bytes.extend_from_slice(from);
                if *echo {
                    pass_on(from, *error)?;
                }
                Ok(from.len())
            }
            Descriptor::Host(host) => (&*host.file).write(from),
            Descriptor::Sink(sink) => sink.write(from),
            Descriptor::Counter(counter) => counter.write(from),
            Descriptor::Timer(_) | Descriptor::Signals(_) | Descriptor::Epoll(_) => refuse(libc::EINVAL),
            Descriptor::Socket(socket) => socket.write(from),
        }
    }

    pub(crate) fn write_at(&mut self, from: &[u8], offset: u64) -> io::Result<usize> {
        match self {
            Descriptor::Host(host) => host.file.write_at(from, offset),
            _ => refuse(libc::ESPIPE),
        }
    }

    pub(crate) fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Descriptor::Text(text) => text.seek(to),
            Descriptor::Host(host) => host.seek(to),
            _ => refuse(libc::ESPIPE),
        }
    }

    pub(crate) fn truncate(&mut self, length: u64) -> io::Result<()> {
        match self {
            Descriptor::Host(host) => host.file.set_len(length),
            _ => refuse(libc::EINVAL),
        }
    }

    pub(crate) fn status(&self, inodes: &mut Inodes) -> io::Result<Status> {
        match self {
            Descriptor::Host(host) => Ok(inodes.status_of(&host.file.metadata()?, host.inode)),
            Descriptor::Text(text) => Ok(Status::of_text(text.get_ref().len() as u64)),
            Descriptor::Socket(_) => Ok(Status::of_socket()),
            _ => Ok(Status::of_pipe()),
        }
    }

    /// The file of the host.
    pub(crate) fn host(&self) -> io::Result<&HostFile> {
        match self {
            Descriptor::Host(host) => Ok(host),
            _ => refuse(libc::EINVAL),
        }
    }

    /// The path of a host file.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.host().ok().map(|host| &host.path)
    }

    /// The link to it in the folder of a process's descriptors: a path, or its kind.
    pub(crate) fn link(&self) -> PathBuf {
        let kind = match self {
            Descriptor::Host(host) => return host.path.clone(),
            Descriptor::Text(_) => "anon_inode:[text]",
            Descriptor::Random(_) => "/dev/urandom",
            Descriptor::Input(_)
            | Descriptor::Output { .. }
            | Descriptor::Source(_)
            | Descriptor::Sink(_) => "pipe:[1]",
            Descriptor::Counter(_) => "anon_inode:[eventfd]",
            Descriptor::Timer(_) => "anon_inode:[timerfd]",
            Descriptor::Signals(_) => "anon_inode:[signalfd]",
            Descriptor::Epoll(_) => "anon_inode:[eventpoll]",
            Descriptor::Socket(_) => "socket:[1]",
        };
        PathBuf::from(kind)
    }

    /// The operations that it is ready for at `now`, in nanoseconds.
    pub(crate) fn readiness(&mut self, now: u64) -> Readiness {
        match self {
            Descriptor::Input(_) => Readiness::always(event::IN),
            Descriptor::Output { .. } => Readiness::always(event::OUT),
            Descriptor::Random(_) | Descriptor::Text(_) | Descriptor::Host(_) => {
                Readiness::always(event::IN | event::OUT)
            }
            Descriptor::Source(source) => source.readiness(),
            Descriptor::Sink(sink) => sink.readiness(),
            Descriptor::Counter(counter) => counter.readiness(),
            Descriptor::Timer(timer) => timer.readiness(now),
            Descriptor::Signals(signals) => signals.readiness(),
            Descriptor::Epoll(epoll) => epoll.readiness(now),
            Descriptor::Socket(socket) => socket.readiness(),
        }
    }

    /// Whether a thread may wait for it.
    pub(crate) fn can_wait(&self) -> bool {
        !matches!(
            self,
            Descriptor::Input(_)
                | Descriptor::Output { .. }
                | Descriptor::Random(_)
                | Descriptor::Text(_)
                | Descriptor::Host(_)
        )
    }
}

impl HostFile {
    /// An open file with a name and its `metadata`.
    pub(crate) fn new(file: File, path: PathBuf, metadata: &Metadata) -> HostFile {
        HostFile {
            file: Arc::new(file),
            path,
            is_own: false,
            inode: None,
            folder: metadata.is_dir().then(Folder::default),
        }
    }

    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.folder {
            Some(folder) => folder.seek(to),
            None => (&*self.file).seek(to),
        }
    }
}

impl Folder {
    /// Positions are numbers of entries; that of the last one is unknown.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(offset) => self.place.checked_add_signed(offset),
            SeekFrom::End(_) => None,
        };
        self.place = place.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        if self.place == 0 && to == SeekFrom::Start(0) {
            // It is read again from its start.
            self.listing = None;
        }
        Ok(self.place)
    }
}

fn pass_on(bytes: &[u8], error: bool) -> io::Result<()> {
    if error {
        return io::stderr().write_all(bytes);
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
