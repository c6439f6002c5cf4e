//! Sending and receiving by sockets.

use super::socket::socket;
use super::transfer::{length, remaining, Pieces};
use super::{number, refuse, Call};
use crate::files::Shared;
use crate::gather;
use crate::process::Process;
use crate::sockets::{Address, Received};
use rackwright_memory::GuestMemory;
use std::io;

/// Flags that have no effect here, or are handled elsewhere.
const KNOWN_FLAGS: i32 = libc::MSG_PEEK
    | libc::MSG_TRUNC
    | libc::MSG_DONTWAIT
    | libc::MSG_WAITALL
    | libc::MSG_NOSIGNAL
    | libc::MSG_MORE
    | libc::MSG_CONFIRM
    | libc::MSG_DONTROUTE
    | libc::MSG_CMSG_CLOEXEC
    | libc::MSG_WAITFORONE
    | libc::MSG_EOR;
/// Bytes of `struct msghdr` in an array of them with counts, and the offset of the count.
const HEADER_BYTES: u64 = 64;
const COUNT: u64 = 56;
/// The most messages of a call.
const MOST_MESSAGES: u64 = 1024;

/// A `struct msghdr`.
struct Header {
    place: u64,
    name: u64,
    name_length: u64,
    pieces: Pieces,
    has_control: bool,
}

impl Header {
    // Offsets of its fields.
    const NAME_LENGTH: u64 = 8;
    const CONTROL_LENGTH: u64 = 40;
    const FLAGS: u64 = 48;

    fn load(memory: &GuestMemory, place: u64) -> io::Result<Header> {
        let word = |index: u64| gather::word(memory, place.wrapping_add(index * 8));
        Ok(Header {
            place,
            name: word(0)?,
            name_length: word(1)? & 0xffff_ffff,
            pieces: gather::pieces(memory, word(2)?, word(3)?)?,
            has_control: word(5)? != 0,
        })
    }
}

impl Process {
    pub(super) fn message_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [descriptor, second, third, _, fifth, sixth] = call.arguments;
        let shared = self.files.get(descriptor)?;
        let flags = flags(number, call);
        if flags & !KNOWN_FLAGS != 0 {
            return refuse(libc::EOPNOTSUPP);
        }
        match number {
            number::SENDTO => {
                let bytes = gathered(call.memory, &remaining(vec![(second, third)], call.done))?;
                self.send(call.memory, &shared, &bytes, (fifth, sixth))
            }
            number::RECVFROM => {
                let pieces = remaining(vec![(second, third)], call.done);
                let received = receive(call.memory, &shared, &pieces, flags)?;
                Address::store(received.from.as_ref(), call.memory, fifth, sixth)?;
                Ok(told_count(&received, flags))
            }
            number::SENDMSG => self.send_message(call, &shared, second),
            number::RECVMSG => receive_message(call, &shared, second, flags),
            number::SENDMMSG | number::RECVMMSG => {
                let mut done = 0;
                while done < third.min(MOST_MESSAGES) {
                    let place = second.wrapping_add(done * HEADER_BYTES);
                    let result = match number {
                        number::SENDMMSG => self.send_message(call, &shared, place),
                        _ => receive_message(call, &shared, place, flags),
                    };
                    match result {
                        Ok(count) => {
                            let count = (count as u32).to_le_bytes();
                            call.memory
                                .write(place.wrapping_add(COUNT), &count)
                                .map_err(gather::fault)?;
                        }
                        // The messages so far are sufficient.
                        Err(_) if done > 0 => break,
                        Err(error) => return Err(error),
                    }
                    done += 1;
                }
                Ok(done)
            }
            _ => self.unknown(number),
        }
    }

    fn send_message(&mut self, call: &mut Call<'_>, shared: &Shared, place: u64) -> io::Result<u64> {
        let header = Header::load(call.memory, place)?;
        if header.has_control {
            // Descriptors and credentials are not sent.
            self.unknown.record(number::SENDMSG);
            return refuse(libc::EINVAL);
        }
        let bytes = gathered(call.memory, &remaining(header.pieces, call.done))?;
        self.send(call.memory, shared, &bytes, (header.name, header.name_length))
    }

    /// Whether a call on a blocking socket waits: its maximum time, or for ever.
    pub(super) fn socket_patience(
        &self,
        number: u64,
        call: &Call<'_>,
    ) -> io::Result<Option<Option<(u64, u64)>>> {
        let shared = self.files.get(call.arguments[0])?;
        if shared.is_nonblocking() || flags(number, call) & libc::MSG_DONTWAIT != 0 {
            return Ok(None);
        }
        let mut descriptor = shared.borrow();
        let Ok(socket) = socket(&mut descriptor) else {
            return Ok(Some(None));
        };
        let sends = matches!(
            number,
            number::WRITE
                | number::WRITEV
                | number::SENDFILE
                | number::SENDTO
                | number::SENDMSG
                | number::SENDMMSG
                | number::CONNECT
        );
        let option = if sends {
            libc::SO_SNDTIMEO
        } else {
            libc::SO_RCVTIMEO
        };
        Ok(Some(socket.options.time(option)))
    }
}

/// The flags of a call that has some.
pub(super) fn flags(number: u64, call: &Call<'_>) -> i32 {
    let [_, _, third, fourth, ..] = call.arguments;
    match number {
        number::SENDTO | number::RECVFROM | number::SENDMMSG | number::RECVMMSG => fourth as i32,
        number::SENDMSG | number::RECVMSG => third as i32,
        _ => 0,
    }
}

/// The pieces that a call on a socket names.
pub(super) fn message_pieces(number: u64, call: &Call<'_>) -> io::Result<Pieces> {
    let [_, second, third, ..] = call.arguments;
    match number {
        number::SENDMSG | number::RECVMSG => Ok(Header::load(call.memory, second)?.pieces),
        _ => Ok(vec![(second, third)]),
    }
}

fn receive_message(call: &mut Call<'_>, shared: &Shared, place: u64, flags: i32) -> io::Result<u64> {
    let header = Header::load(call.memory, place)?;
    let pieces = remaining(header.pieces, call.done);
    let received = receive(call.memory, shared, &pieces, flags)?;
    let length = header.place.wrapping_add(Header::NAME_LENGTH);
    match (&received.from, header.name) {
        (None, _) | (_, 0) => call.memory.write(length, &[0; 4]).map_err(gather::fault)?,
        (from, name) => {
            Address::store(from.as_ref(), call.memory, name, length)?;
        }
    }
    let is_cut = received.count < received.whole;
    let told = if is_cut { libc::MSG_TRUNC } else { 0 };
    gather::store_words(
        call.memory,
        header.place.wrapping_add(Header::CONTROL_LENGTH),
        &[0],
    )?;
    call.memory
        .write(header.place.wrapping_add(Header::FLAGS), &told.to_le_bytes())
        .map_err(gather::fault)?;
    Ok(told_count(&received, flags))
}

/// Receives into pieces of memory.
pub(super) fn receive(
    memory: &mut GuestMemory,
    shared: &Shared,
    pieces: &Pieces,
    flags: i32,
) -> io::Result<Received> {
    let mut bytes = gather::buffer(length(pieces));
    let received = socket(&mut shared.borrow())?.receive(&mut bytes, flags & libc::MSG_PEEK != 0)?;
    let mut left = &bytes[..received.count];
    for (address, length) in pieces {
        let (now, later) = left.split_at(left.len().min(*length as usize));
        memory.write(*address, now).map_err(gather::fault)?;
        left = later;
    }
    Ok(received)
}

/// The number of received bytes that a call returns: of a truncated datagram, all if requested.
fn told_count(received: &Received, flags: i32) -> u64 {
    let count = if flags & libc::MSG_TRUNC != 0 {
        received.whole
    } else {
        received.count
    };
    count as u64
}

/// The bytes of pieces, one after the other.
pub(super) fn gathered(memory: &GuestMemory, pieces: &Pieces) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (address, length) in pieces {
        bytes.extend(gather::bytes(memory, *address, *length)?);
    }
    Ok(bytes)
}
