//! Bytes from and to descriptors.

use super::message::{flags, gathered, message_pieces, receive};
use super::{number, refuse, Call};
use crate::descriptor::Descriptor;
use crate::files::Shared;
use crate::gather;
use crate::process::Process;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycles;
use std::io;

/// Pieces of memory: address and length.
pub(super) type Pieces = Vec<(u64, u64)>;

/// An offset that represents that of the descriptor.
const OWN_OFFSET: u64 = u64::MAX;
/// `EAGAIN` instead of a wait, in `preadv2` and `pwritev2`: there are no waits for a disk here.
const KNOWN_FLAGS: u64 = 0x1f;

impl Process {
    pub(super) fn transfer_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, _, third, fourth, fifth, sixth] = call.arguments;
        match number {
            number::READ | number::READV => {
                let pieces = pieces(number, call)?;
                self.read(call, first, &pieces, None)
            }
            number::WRITE | number::WRITEV => {
                let pieces = pieces(number, call)?;
                self.write(call, first, &pieces, None)
            }
            number::PREAD64 | number::PREADV | number::PREADV2 => {
                let offset = offset(number, fourth, sixth)?;
                let pieces = pieces(number, call)?;
                self.read(call, first, &pieces, offset)
            }
            number::PWRITE64 | number::PWRITEV | number::PWRITEV2 => {
                let offset = offset(number, fourth, sixth)?;
                let pieces = pieces(number, call)?;
                self.write(call, first, &pieces, offset)
            }
            number::SENDFILE => {
                let places = (Place::of(call.memory, third)?, Place::OWN);
                let [to, from, ..] = call.arguments;
                self.copy(call, (from, to), places, fourth)
            }
            number::COPY_FILE_RANGE => {
                let [from, from_offset, to, to_offset, ..] = call.arguments;
                let places = (
                    Place::of(call.memory, from_offset)?,
                    Place::of(call.memory, to_offset)?,
                );
                self.files.get(from)?.borrow().host()?;
                self.files.get(to)?.borrow().host()?;
                self.copy(call, (from, to), places, fifth)
            }
            number::SPLICE => self.splice(call),
            _ => self.unknown(number),
        }
    }

    fn read(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        pieces: &Pieces,
        offset: Option<u64>,
    ) -> io::Result<u64> {
        let shared = self.files.get(descriptor)?;
        if is_socket(&shared) {
            if offset.is_some() {
                return refuse(libc::ESPIPE);
            }
            let received = receive(call.memory, &shared, pieces, 0)?;
            return Ok(received.count as u64);
        }
        let now = self.nanoseconds(call.now);
        piece_by_piece(pieces, |done, address, length| {
            let mut buffer = gather::buffer(length);
            let count = match offset {
                Some(offset) => shared.borrow().read_at(&mut buffer, offset + done)?,
                None => shared.borrow().read(&mut buffer, now)?,
            };
            call.memory
                .write(address, &buffer[..count])
                .map_err(gather::fault)?;
            Ok(count)
        })
    }

    fn write(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        pieces: &Pieces,
        offset: Option<u64>,
    ) -> io::Result<u64> {
        let shared = self.files.get(descriptor)?;
        if is_socket(&shared) {
            if offset.is_some() {
                return refuse(libc::ESPIPE);
            }
            let bytes = gathered(call.memory, pieces)?;
            return self.send(call.memory, &shared, &bytes, (0, 0));
        }
        let memory = &*call.memory;
        let moved = piece_by_piece(pieces, |done, address, length| {
            let bytes = gather::bytes(memory, address, length)?;
            match offset {
                Some(offset) => shared.borrow().write_at(&bytes, offset + done),
                None => shared.borrow().write(&bytes),
            }
        })?;
        self.refit_shared(call.memory)?;
        Ok(moved)
    }

    /// `splice(from, from_offset, to, to_offset, length, flags)`: from a pipe or to one.
    fn splice(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [from, from_offset, to, to_offset, length, _] = call.arguments;
        let reads = matches!(&*self.files.get(from)?.borrow(), Descriptor::Source(_));
        let writes = matches!(&*self.files.get(to)?.borrow(), Descriptor::Sink(_));
        if reads && from_offset != 0 || writes && to_offset != 0 {
            return refuse(libc::ESPIPE);
        }
        if !reads && !writes {
            return refuse(libc::EINVAL);
        }
        let places = (
            Place::of(call.memory, from_offset)?,
            Place::of(call.memory, to_offset)?,
        );
        if reads || is_socket(&self.files.get(from)?) {
            return self.pass_on(call, (from, to), places.1, length);
        }
        self.copy(call, (from, to), places, length)
    }

    /// Moves up to `length` bytes that have arrived at one descriptor to another one.
    fn pass_on(
        &mut self,
        call: &mut Call<'_>,
        (from, to): (u64, u64),
        mut target: Place,
        length: u64,
    ) -> io::Result<u64> {
        let (from, to) = (self.files.get(from)?, self.files.get(to)?);
        let mut bytes = gather::buffer(length);
        let count = match &mut *from.borrow() {
            Descriptor::Source(source) => source.peek(&mut bytes)?,
            Descriptor::Socket(socket) => socket.receive(&mut bytes, true)?.count,
            _ => return refuse(libc::EINVAL),
        };
        if count == 0 {
            return Ok(0);
        }
        let moved = target.write(&to, &bytes[..count])?;
        from.borrow().read(&mut bytes[..moved], 0)?;
        target.store(call.memory)?;
        self.refit_shared(call.memory)?;
        Ok(moved as u64)
    }

    /// Copies up to `length` bytes from one descriptor to another one.
    fn copy(
        &mut self,
        call: &mut Call<'_>,
        (from, to): (u64, u64),
        (mut source, mut target): (Place, Place),
        length: u64,
    ) -> io::Result<u64> {
        let (from, to) = (self.files.get(from)?, self.files.get(to)?);
        let mut bytes = gather::buffer(length);
        let count = source.read(&from, &mut bytes)?;
        let moved = match target.write(&to, &bytes[..count]) {
            Ok(moved) => moved,
            Err(error) => {
                source.give_back(&from, count)?;
                return Err(error);
            }
        };
        source.give_back(&from, count - moved)?;
        source.store(call.memory)?;
        target.store(call.memory)?;
        self.refit_shared(call.memory)?;
        Ok(moved as u64)
    }

    /// Whether a call on a descriptor waits if it cannot complete: its maximum time, or for ever.
    pub(crate) fn waits(&self, number: u64, call: &Call<'_>) -> io::Result<Option<Option<Cycles>>> {
        let [first, ..] = call.arguments;
        let can_wait = matches!(
            number,
            number::READ | number::READV | number::WRITE | number::WRITEV | number::SENDFILE
        ) || is_of_socket(number);
        if number == number::SPLICE {
            return self.splice_waits(call);
        }
        if Process::waits_for_lock(number, call) {
            return Ok(Some(None));
        }
        if !can_wait || !self.files.get(first)?.borrow().can_wait() {
            return Ok(None);
        }
        let patience = self.socket_patience(number, call)?;
        Ok(patience.map(|time| {
            time.map(|(seconds, microseconds)| {
                let until = self.cycle_at(seconds, microseconds.saturating_mul(1000));
                Cycles::new(until.0)
            })
        }))
    }

    /// The same for `splice`: for ever, unless it or one of its ends is not to wait.
    fn splice_waits(&self, call: &Call<'_>) -> io::Result<Option<Option<Cycles>>> {
        let [from, _, to, _, _, flags] = call.arguments;
        let at_once = flags as u32 & libc::SPLICE_F_NONBLOCK != 0
            || self.files.get(from)?.is_nonblocking()
            || self.files.get(to)?.is_nonblocking();
        Ok((!at_once).then_some(None))
    }

    /// Whether a call that fails because its data have no reader raises a signal.
    pub(crate) fn signals_broken_pipe(&self, number: u64, call: &Call<'_>) -> bool {
        matches!(
            number,
            number::WRITE
                | number::WRITEV
                | number::SENDFILE
                | number::SPLICE
                | number::SENDTO
                | number::SENDMSG
                | number::SENDMMSG
        ) && flags(number, call) & libc::MSG_NOSIGNAL == 0
    }

    /// Whether a call that has moved a part of its bytes waits for the rest: only pipes and connections take a part.
    pub(crate) fn awaits_rest(&self, number: u64, call: &Call<'_>) -> bool {
        let takes_part = |shared: Shared| match &*shared.borrow() {
            Descriptor::Sink(_) => true,
            Descriptor::Socket(socket) => socket.is_stream(),
            _ => false,
        };
        let wants_all = match number {
            number::WRITE | number::WRITEV | number::SENDTO | number::SENDMSG => true,
            number::RECVFROM | number::RECVMSG => {
                flags(number, call) & (libc::MSG_WAITALL | libc::MSG_PEEK) == libc::MSG_WAITALL
            }
            _ => false,
        };
        wants_all && self.files.get(call.arguments[0]).is_ok_and(takes_part)
    }

    /// Number of bytes that a call is to move.
    pub(crate) fn transfer_length(&self, number: u64, call: &Call<'_>) -> io::Result<u64> {
        let [_, second, third, ..] = call.arguments;
        match number {
            number::WRITEV => Ok(length(&gather::pieces(call.memory, second, third)?)),
            number::SENDMSG | number::RECVMSG => Ok(length(&message_pieces(number, call)?)),
            _ => Ok(third),
        }
    }
}

/// The position in a file at which a copy begins.
struct Place {
    /// The address of the offset, and the offset; none for that of the descriptor.
    given: Option<(u64, u64)>,
}

impl Place {
    const OWN: Place = Place { given: None };

    fn of(memory: &GuestMemory, address: u64) -> io::Result<Place> {
        if address == 0 {
            return Ok(Place::OWN);
        }
        let offset = gather::word(memory, address)?;
        Ok(Place {
            given: Some((address, offset)),
        })
    }

    fn read(&mut self, from: &Shared, bytes: &mut [u8]) -> io::Result<usize> {
        let mut from = from.borrow();
        if !matches!(*from, Descriptor::Host(_) | Descriptor::Text(_)) {
            return refuse(libc::EINVAL);
        }
        match &mut self.given {
            Some((_, offset)) => {
                let count = from.read_at(bytes, *offset)?;
                *offset += count as u64;
                Ok(count)
            }
            None => from.read(bytes, 0),
        }
    }

    /// Returns bytes that were read but could not be written.
    fn give_back(&mut self, from: &Shared, bytes: usize) -> io::Result<()> {
        match &mut self.given {
            Some((_, offset)) => *offset -= bytes as u64,
            None if bytes > 0 => {
                from.borrow().seek(io::SeekFrom::Current(-(bytes as i64)))?;
            }
            None => {}
        }
        Ok(())
    }

    fn write(&mut self, to: &Shared, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.given {
            Some((_, offset)) => {
                let count = to.borrow().write_at(bytes, *offset)?;
                *offset += count as u64;
                Ok(count)
            }
            None => to.borrow().write(bytes),
        }
    }

    fn store(&self, memory: &mut GuestMemory) -> io::Result<()> {
        match self.given {
            Some((address, offset)) => gather::store_words(memory, address, &[offset]),
            None => Ok(()),
        }
    }
}

fn is_socket(shared: &Shared) -> bool {
    matches!(&*shared.borrow(), Descriptor::Socket(_))
}

/// Whether a call is one of sockets that may wait.
fn is_of_socket(number: u64) -> bool {
    matches!(
        number,
        number::ACCEPT
            | number::ACCEPT4
            | number::CONNECT
            | number::SENDTO
            | number::SENDMSG
            | number::SENDMMSG
            | number::RECVFROM
            | number::RECVMSG
            | number::RECVMMSG
    )
}

pub(super) fn length(pieces: &Pieces) -> u64 {
    pieces
        .iter()
        .fold(0, |sum, (_, length)| sum.saturating_add(*length))
}

/// The buffers of a call, without bytes moved before it had to wait.
fn pieces(number: u64, call: &Call<'_>) -> io::Result<Pieces> {
    let [_, second, third, ..] = call.arguments;
    let all = match number {
        number::READ | number::WRITE | number::PREAD64 | number::PWRITE64 => vec![(second, third)],
        _ => gather::pieces(call.memory, second, third)?,
    };
    Ok(remaining(all, call.done))
}

/// Pieces without the first bytes, which have been moved.
pub(super) fn remaining(all: Pieces, mut done: u64) -> Pieces {
    let mut left = Pieces::new();
    for (address, length) in all {
        let skipped = done.min(length);
        done -= skipped;
        if skipped < length || length == 0 {
            left.push((address + skipped, length - skipped));
        }
    }
    left
}

/// The offset that a call names.
fn offset(number: u64, offset: u64, flags: u64) -> io::Result<Option<u64>> {
    let has_flags = matches!(number, number::PREADV2 | number::PWRITEV2);
    if has_flags && flags & !KNOWN_FLAGS != 0 {
        return refuse(libc::EOPNOTSUPP);
    }
    if has_flags && offset == OWN_OFFSET {
        return Ok(None);
    }
    if offset > i64::MAX as u64 {
        return refuse(libc::EINVAL);
    }
    Ok(Some(offset))
}

/// Moves buffers, each an address and a length, until one of them is not moved completely. `move_piece` receives the
/// number of bytes moved before, and returns the number that it moved. Returns the total number of moved bytes.
fn piece_by_piece(
    pieces: &[(u64, u64)],
    mut move_piece: impl FnMut(u64, u64, u64) -> io::Result<usize>,
) -> io::Result<u64> {
    let mut total = 0;
    for &(address, length) in pieces {
        let count = match move_piece(total, address, length) {
            Ok(count) => count as u64,
            // Bytes already moved count.
            Err(_) if total > 0 => break,
            Err(error) => return Err(error),
        };
        total += count;
        if count < length {
            break;
        }
    }
    Ok(total)
}
