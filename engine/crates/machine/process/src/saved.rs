//! The open descriptors of a program as state, for checkpoints.
//!
//! Numbers that share a descriptor share it afterwards, too. A file of the host is opened again by its path; its contents
//! are no state, and must not have changed.

use crate::activity::Activity;
use crate::channel::{channel, Pipes};
use crate::counter::Counter;
use crate::descriptor::{Descriptor, HostFile};
use crate::epoll::Epoll;
use crate::files::{open_options, Files, Shared};
use crate::input::{Input, Reader};
use crate::process::{pass_random, path_bytes, path_of};
use crate::signal_file::{PendingSignals, SignalFile};
use crate::timer::Timer;
use rackwright_state::{state, Pass, State, StateError};
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fs::File;
use std::io::{self, Cursor, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

/// What descriptors share with their process.
pub(crate) struct Surroundings<'a> {
    pub(crate) activity: &'a Activity,
    pub(crate) signals: &'a PendingSignals,
}

/// Passes all descriptors, and the numbers that the program has for them.
pub(crate) fn pass_files(
    files: &mut Files,
    around: &Surroundings<'_>,
    by: &mut Pass<'_>,
) -> Result<(), StateError> {
    if !files.names.is_empty() {
        return Err(unsaved("files in /dev/shm"));
    }
    files.inodes.pass(by)?;
    files.limits.pass(by)?;
    files.mask.pass(by)?;
    let (mut all, mut numbers) = files.descriptors();
    let count = by.count(all.len())?;
    let mut pipes = Pipes::default();
    for place in 0..count {
        let known = all
            .get(place)
            .map(|shared| (kind(&shared.borrow()), shared.flags()));
        let (mut kind, mut flags) = known.unwrap_or_default();
        kind.pass(by)?;
        flags.pass(by)?;
        if place == all.len() {
            all.push(Shared::new(blank(kind, around)?, flags));
        }
        all[place].set_flags(flags);
        pass_descriptor(&mut all[place].borrow(), flags, &mut pipes, by)?;
    }
    for shared in &all {
        if let Descriptor::Epoll(epoll) = &mut *shared.borrow() {
            epoll.pass(&all, by)?;
        }
    }
    numbers.pass(by)?;
    if by.restores() {
        files.set_descriptors(&all, &numbers).ok_or(StateError::Damaged)?;
    }
    Ok(())
}

/// The number of a kind of descriptors in a checkpoint.
fn kind(descriptor: &Descriptor) -> u8 {
    match descriptor {
        Descriptor::Input(_) => 0,
        Descriptor::Output { .. } => 1,
        Descriptor::Random(_) => 2,
        Descriptor::Text(_) => 3,
        Descriptor::Host(_) => 4,
        Descriptor::Counter(_) => 5,
        Descriptor::Timer(_) => 6,
        Descriptor::Signals(_) => 7,
        Descriptor::Source(_) => 8,
        Descriptor::Sink(_) => 9,
        Descriptor::Epoll(_) => 10,
        Descriptor::Socket(_) => 11,
    }
}

/// A descriptor of that kind to be read into.
fn blank(kind: u8, around: &Surroundings<'_>) -> Result<Descriptor, StateError> {
    Ok(match kind {
        0 => Descriptor::Input(Reader::new(Input::default())),
        2 => Descriptor::Random(Box::new(ChaCha8Rng::seed_from_u64(0))),
        3 => Descriptor::Text(Cursor::default()),
        4 => Descriptor::Host(HostState::default().open(libc::O_RDONLY)?),
        5 => Descriptor::Counter(Counter::new(0, false, around.activity.clone())),
        6 => Descriptor::Timer(Timer::new(false)),
        7 => Descriptor::Signals(SignalFile::new(0, around.signals.clone())),
        8 => Descriptor::Source(channel(around.activity).0),
        9 => Descriptor::Sink(channel(around.activity).1),
        10 => Descriptor::Epoll(Epoll::default()),
        _ => return Err(StateError::Damaged),
    })
}

/// Passes a descriptor without the interests of an `epoll` instance, which need the others.
fn pass_descriptor(
    descriptor: &mut Descriptor,
    flags: i32,
    pipes: &mut Pipes,
    by: &mut Pass<'_>,
) -> Result<(), StateError> {
    match descriptor {
        Descriptor::Input(input) => input.pass(by),
        Descriptor::Output { bytes, .. } => bytes.pass(by),
        Descriptor::Random(random) => pass_random(random, by),
        Descriptor::Text(text) => {
            let mut place = text.position();
            text.get_mut().pass(by)?;
            place.pass(by)?;
            text.set_position(place);
            Ok(())
        }
        Descriptor::Host(host) => pass_host(host, flags, by),
        Descriptor::Counter(counter) => counter.pass(by),
        Descriptor::Timer(timer) => timer.pass(by),
        Descriptor::Signals(signals) => signals.pass(by),
        Descriptor::Source(source) => pipes.pass_source(source, by),
        Descriptor::Sink(sink) => pipes.pass_sink(sink, by),
        Descriptor::Epoll(_) => Ok(()),
        Descriptor::Socket(_) => Err(unsaved("a socket")),
    }
}

fn unsaved(what: &str) -> StateError {
    StateError::Unsaved(format!("a program with {what} cannot be saved"))
}

/// A file of the host that is only read.
struct HostState {
    path: Vec<u8>,
    /// The position in it, or in a folder.
    place: u64,
    /// Bytes, seconds and nanoseconds of the last change.
    version: [u64; 3],
}

state!(HostState { path, place, version });

impl Default for HostState {
    fn default() -> HostState {
        HostState {
            path: b"/dev/null".to_vec(),
            place: 0,
            version: [0; 3],
        }
    }
}

impl HostState {
    fn of(host: &HostFile, flags: i32) -> Result<HostState, StateError> {
        let is_read = host
            .folder
            .as_ref()
            .is_some_and(|folder| folder.listing.is_some());
        if host.is_own || host.inode.is_some() {
            return Err(unsaved("an open file without a name"));
        }
        if is_read {
            return Err(unsaved("a folder that it reads"));
        }
        let version = version(&host.file).unwrap_or_default();
        let is_plain = version == [0; 3];
        if flags & libc::O_ACCMODE != libc::O_RDONLY && !is_plain {
            return Err(unsaved("a file that it writes"));
        }
        let place = match &host.folder {
            Some(folder) => folder.place,
            None => (&*host.file).stream_position().unwrap_or_default(),
        };
        Ok(HostState {
            path: path_bytes(host.path.clone()),
            place,
            version,
        })
    }

    fn open(self, flags: i32) -> Result<HostFile, StateError> {
        let path = path_of(self.path);
        let open = || -> io::Result<HostFile> {
            let mut file = open_options(flags, 0).open(&path)?;
            let metadata = file.metadata()?;
            if version(&file)? != self.version {
                return Err(io::ErrorKind::NotFound.into());
            }
            if !metadata.is_dir() && self.place != 0 {
                file.seek(SeekFrom::Start(self.place))?;
            }
            let mut host = HostFile::new(file, path.clone(), &metadata);
            if let Some(folder) = &mut host.folder {
                folder.place = self.place;
            }
            Ok(host)
        };
        open().map_err(|_| StateError::Unsaved(format!("`{}` has changed, or is not there", path.display())))
    }
}

/// The length of a file and the time of its last change; zeros for what has no contents of its own.
fn version(file: &File) -> io::Result<[u64; 3]> {
    let metadata = file.metadata()?;
    Ok(match metadata.is_file() {
        true => [
            metadata.len(),
            metadata.mtime() as u64,
            metadata.mtime_nsec() as u64,
        ],
        false => [0; 3],
    })
}

fn pass_host(host: &mut HostFile, flags: i32, by: &mut Pass<'_>) -> Result<(), StateError> {
    let mut state = match by.restores() {
        true => HostState::default(),
        false => HostState::of(host, flags)?,
    };
    state.pass(by)?;
    if by.restores() {
        *host = state.open(flags)?;
    }
    Ok(())
}
