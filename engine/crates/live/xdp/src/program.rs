//! The program that selects the frames for AF_XDP: those with a complete datagram of UDP over IPv4, without options,
//! for this interface's own MAC and for an opened address. All others are passed to the kernel.

use crate::frame::{
    CHECKSUM, DESTINATION, DESTINATION_PORT, FRAGMENT, HEADER_BYTES, LENGTH, PROTOCOL, SOURCE, TYPE, VERSION,
};
use crate::instruction::{Assembler, Instruction, When, Width, R0, R1, R10, R2, R3, R4, R5, R6};
use std::net::SocketAddrV4;

/// The program's result for a frame that the kernel handles.
pub const PASS: u32 = 2;
/// The program's result for a frame for AF_XDP.
pub const REDIRECT: u32 = 4;

/// The value of an opened address that takes frames of every queue. Others have the number of theirs.
pub(crate) const EVERY_QUEUE: u32 = u32::MAX;

/// Functions of the kernel, by their numbers.
const LOOK_UP: i32 = 1;
const REDIRECT_BY_MAP: i32 = 51;

/// The positions in the context of the first byte of the frame, the byte after its last, and the queue.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const QUEUE: i16 = 16;

/// The representation of an opened address in the map: four bytes of the address, two of the port, two of zero.
pub(crate) fn key(address: SocketAddrV4) -> [u8; 8] {
    let [a, b, c, d] = address.ip().octets();
    let [e, f] = address.port().to_be_bytes();
    [a, b, c, d, e, f, 0, 0]
}

/// The parameters of the program.
pub(crate) struct Facts {
    /// The interface's own address of Ethernet.
    pub(crate) mac: [u8; 6],
    /// The longest frame that there is room for.
    pub(crate) longest: usize,
    /// Frames whose checksum was left to hardware go to the kernel. In generic mode such a frame may be several
    /// datagrams that the kernel was to segment later, which is not visible in the frame.
    pub(crate) pass_unfinished: bool,
    /// The descriptor of the map from opened addresses to queues.
    pub(crate) addresses: i32,
    /// The descriptor of the map from queues to sockets.
    pub(crate) sockets: i32,
}

/// A number as read from bytes in network order.
fn as_read(bytes: [u8; 2]) -> u32 {
    u16::from_ne_bytes(bytes).into()
}

/// The instructions.
pub(crate) fn program(facts: &Facts) -> Vec<Instruction> {
    let mut code = Assembler::default();
    let (pass, redirect) = (code.label(), code.label());
    code.copy(R6, R1);
    code.load(Width::Word, R2, R6, DATA);
    code.load(Width::Word, R3, R6, DATA_END);
    // Shorter than all headers together: not relevant. By this, the kernel verifies that the following accesses stay
    // inside.
    code.copy(R4, R2);
    code.add_value(R4, HEADER_BYTES as i32);
    code.jump_if(R4, When::Greater, R3, pass);
    // Longer than there is room for.
    code.copy(R4, R2);
    code.add_value(R4, facts.longest as i32 + 1);
    code.jump_if(R4, When::LessOrEqual, R3, pass);
    let [a, b, c, d, e, f] = facts.mac;
    code.load(Width::Word, R4, R2, 0);
    code.jump_if_value(R4, When::NotEqual, u32::from_ne_bytes([a, b, c, d]), pass);
    code.load(Width::Half, R4, R2, 4);
    code.jump_if_value(R4, When::NotEqual, as_read([e, f]), pass);
    code.load(Width::Half, R4, R2, TYPE as i16);
    code.jump_if_value(R4, When::NotEqual, as_read([8, 0]), pass);
    code.load(Width::Byte, R4, R2, VERSION as i16);
    code.jump_if_value(R4, When::NotEqual, 0x45, pass);
    code.load(Width::Half, R4, R2, FRAGMENT as i16);
    code.jump_if_value(R4, When::AnyBit, as_read([0x3f, 0xff]), pass);
    code.load(Width::Byte, R4, R2, PROTOCOL as i16);
    code.jump_if_value(R4, When::NotEqual, 17, pass);
    if facts.pass_unfinished {
        pass_unfinished(&mut code, pass);
    }
    code.load(Width::Word, R4, R2, DESTINATION as i16);
    code.store(Width::Word, R10, -8, R4);
    code.load(Width::Half, R4, R2, DESTINATION_PORT as i16);
    code.store(Width::Word, R10, -4, R4);
    code.set_map(R1, facts.addresses);
    code.copy(R2, R10);
    code.add_value(R2, -8);
    code.call(LOOK_UP);
    code.jump_if_value_64(R0, When::Equal, 0, pass);
    code.load(Width::Word, R4, R0, 0);
    code.load(Width::Word, R2, R6, QUEUE);
    code.jump_if_value(R4, When::Equal, EVERY_QUEUE, redirect);
    code.jump_if(R4, When::NotEqual, R2, pass);
    code.place(redirect);
    code.set_map(R1, facts.sockets);
    // The result if the queue has no socket.
    code.set(R3, PASS as i32);
    code.call(REDIRECT_BY_MAP);
    code.exit();
    code.place(pass);
    code.set(R0, PASS as i32);
    code.exit();
    code.finish()
}

/// An unfinished checksum is the sum of the pseudo header, not complemented.
fn pass_unfinished(code: &mut Assembler, pass: crate::instruction::Label) {
    // One's complement sums are the same in every byte order, so that no bytes have to be swapped.
    code.set(R4, as_read([0, 17]) as i32);
    for at in [SOURCE, SOURCE + 2, DESTINATION, DESTINATION + 2, LENGTH] {
        code.load(Width::Half, R5, R2, at as i16);
        code.add(R4, R5);
    }
    for _ in 0..2 {
        code.copy(R5, R4);
        code.shift_right(R5, 16);
        code.and_value(R4, 0xffff);
        code.add(R4, R5);
    }
    code.load(Width::Half, R5, R2, CHECKSUM as i16);
    code.jump_if(R4, When::Equal, R5, pass);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::{Map, MapKind, Program};
    use crate::frame::{build, frame_bytes, Neighbor, Route};
    use crate::socket::Socket;
    use std::os::fd::{AsFd, AsRawFd};
    use std::process::Command;

    const MAC: [u8; 6] = [2, 0, 0, 0xfe, 0xdc, 0xba];
    const OPEN: &str = "10.1.2.3:9000";
    const OPEN_ON_QUEUE_1: &str = "10.1.2.3:9001";

    fn frame(to: &str, bytes: usize) -> Vec<u8> {
        let route = Route {
            from: "10.1.2.4:5000".parse().unwrap(),
            to: to.parse().unwrap(),
            neighbor: Neighbor(MAC),
        };
        let mut frame = vec![7; frame_bytes(bytes)];
        build(&mut frame, [2, 0, 0, 0, 0, 1], &route);
        frame
    }

    fn unfinished(mut frame: Vec<u8>) -> Vec<u8> {
        let sum = crate::checksum::Sum::default()
            .with(&frame[SOURCE..SOURCE + 8])
            .with(&[0, 17, frame[LENGTH], frame[LENGTH + 1]]);
        frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.folded().to_be_bytes());
        frame
    }

    /// Runs a program in the kernel for a test.
    struct Trial {
        program: Program,
        _maps: [Map; 2],
        _socket: std::sync::Arc<Socket>,
    }

    /// The program with two open addresses and a socket for queue 0, in a network namespace of this thread
    /// alone; or why there is none.
    fn trial(pass_unfinished: bool) -> Result<Trial, String> {
        // SAFETY: a call with numbers alone, for this thread.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(format!("no namespace: {}", std::io::Error::last_os_error()));
        }
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
        if !up.is_ok_and(|status| status.success()) {
            return Err("there is no `ip`".into());
        }
        let text = |error: crate::XdpError| error.to_string();
        let (socket, _rings) = Socket::new().map_err(text)?;
        socket
            .bind(1, 0, libc::XDP_COPY)
            .map_err(|error| error.to_string())?;
        let sockets = Map::create(MapKind::Sockets, 4, 4, 1).map_err(text)?;
        let descriptor = socket.as_fd().as_raw_fd().to_ne_bytes();
        sockets.set(&0_u32.to_ne_bytes(), &descriptor).unwrap();
        let addresses = Map::create(MapKind::Hash, 8, 4, 8).map_err(text)?;
        for (address, queue) in [(OPEN, EVERY_QUEUE), (OPEN_ON_QUEUE_1, 1)] {
            let key = key(address.parse().unwrap());
            addresses.set(&key, &queue.to_ne_bytes()).unwrap();
        }
        let code = program(&Facts {
            mac: MAC,
            longest: 1000,
            pass_unfinished,
            addresses: addresses.descriptor(),
            sockets: sockets.descriptor(),
        });
        Ok(Trial {
            program: Program::load(&code).map_err(text)?,
            _maps: [sockets, addresses],
            _socket: socket,
        })
    }

    fn with_trial(pass_unfinished: bool, check: impl Fn(&dyn Fn(&[u8]) -> u32) + Sync) {
        // A thread of its own, whose namespace ends with it.
        std::thread::scope(|scope| {
            scope.spawn(|| match trial(pass_unfinished) {
                Ok(trial) => check(&|frame| trial.program.run(frame).unwrap()),
                Err(reason) => eprintln!("skipped: {reason}"),
            });
        });
    }

    #[test]
    fn whole_datagrams_for_open_addresses_come_and_everything_else_goes_on() {
        with_trial(false, |run| {
            let good = frame(OPEN, 100);
            assert_eq!(run(&good), REDIRECT);
            assert_eq!(run(&frame(OPEN, 0)), REDIRECT);
            assert_eq!(run(&frame(OPEN, 1000 - HEADER_BYTES)), REDIRECT);
            assert_eq!(run(&unfinished(good.clone())), REDIRECT);
            assert_eq!(run(&frame(OPEN, 1001 - HEADER_BYTES)), PASS, "too long");
            assert_eq!(run(&frame("10.1.2.3:9002", 100)), PASS, "another port");
            assert_eq!(run(&frame("10.1.2.9:9000", 100)), PASS, "another address");
            assert_eq!(run(&frame(OPEN_ON_QUEUE_1, 100)), PASS, "of another queue");
            assert_eq!(run(&good[..HEADER_BYTES - 1]), PASS, "cut off");
            let with = |at: usize, value: u8| {
                let mut frame = good.clone();
                frame[at] = value;
                frame
            };
            for (at, octet) in MAC.iter().enumerate() {
                assert_eq!(run(&with(at, octet ^ 4)), PASS, "for another MAC");
            }
            assert_eq!(run(&with(TYPE, 0x86)), PASS, "not IPv4");
            assert_eq!(run(&with(TYPE + 1, 6)), PASS, "not IPv4");
            assert_eq!(run(&with(VERSION, 0x46)), PASS, "options");
            assert_eq!(run(&with(VERSION, 0x65)), PASS, "version 6");
            assert_eq!(run(&with(FRAGMENT, 0x20)), PASS, "more fragments follow");
            assert_eq!(run(&with(FRAGMENT + 1, 1)), PASS, "a later fragment");
            assert_eq!(run(&with(FRAGMENT, 0x40)), REDIRECT, "not to be cut");
            assert_eq!(run(&with(PROTOCOL, 6)), PASS, "TCP");
        });
    }

    #[test]
    fn unfinished_checksums_go_to_the_kernel_where_they_may_be_several_datagrams() {
        with_trial(true, |run| {
            assert_eq!(run(&frame(OPEN, 100)), REDIRECT);
            assert_eq!(run(&frame(OPEN, 101)), REDIRECT);
            for bytes in 0..200 {
                assert_eq!(run(&unfinished(frame(OPEN, bytes))), PASS, "{bytes} bytes");
            }
        });
    }
}
