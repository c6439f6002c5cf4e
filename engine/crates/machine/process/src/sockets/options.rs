//! Options of sockets: those that are only reported, and those with an effect here.

use crate::calls::refuse;
use std::collections::BTreeMap;
use std::io;

/// Bytes of a number, and of a time.
const NUMBER: usize = 4;
const TIME: usize = 16;
/// Buffers are twice as large as requested, and have at least this length, as in Linux.
const LEAST_BUFFER: i32 = 2304;
const BUFFER: i32 = 212_992;

/// Options of every socket that are numbers; the others are times.
const NUMBERS: [i32; 12] = [
    libc::SO_REUSEADDR,
    libc::SO_REUSEPORT,
    libc::SO_KEEPALIVE,
    libc::SO_BROADCAST,
    libc::SO_DONTROUTE,
    libc::SO_OOBINLINE,
    libc::SO_PRIORITY,
    libc::SO_RCVLOWAT,
    libc::SO_TIMESTAMP,
    libc::SO_PASSCRED,
    libc::SO_SNDBUF,
    libc::SO_RCVBUF,
];
const TIMES: [i32; 2] = [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO];
/// Options of TCP for the use of a network, which does not exist here.
const OF_TCP: [i32; 12] = [
    libc::TCP_NODELAY,
    libc::TCP_MAXSEG,
    libc::TCP_CORK,
    libc::TCP_KEEPIDLE,
    libc::TCP_KEEPINTVL,
    libc::TCP_KEEPCNT,
    libc::TCP_SYNCNT,
    libc::TCP_LINGER2,
    libc::TCP_DEFER_ACCEPT,
    libc::TCP_QUICKACK,
    libc::TCP_USER_TIMEOUT,
    libc::TCP_FASTOPEN,
];
const OF_IP: [i32; 5] = [
    libc::IP_TOS,
    libc::IP_TTL,
    libc::IP_MTU_DISCOVER,
    libc::IP_RECVERR,
    libc::IP_PKTINFO,
];
const OF_IP_6: [i32; 5] = [
    libc::IPV6_V6ONLY,
    libc::IPV6_UNICAST_HOPS,
    libc::IPV6_TCLASS,
    libc::IPV6_RECVERR,
    libc::IPV6_RECVPKTINFO,
];

/// The options set by a program, by level and number.
#[derive(Clone, Default, Debug)]
pub(crate) struct Options(BTreeMap<(i32, i32), Vec<u8>>);

impl Options {
    /// Bytes of an option. `ENOPROTOOPT` when it is not known.
    pub(crate) fn length(level: i32, name: i32) -> io::Result<usize> {
        match level {
            libc::SOL_SOCKET if NUMBERS.contains(&name) => Ok(NUMBER),
            libc::SOL_SOCKET if TIMES.contains(&name) => Ok(TIME),
            libc::SOL_SOCKET if name == libc::SO_LINGER => Ok(2 * NUMBER),
            libc::IPPROTO_TCP if OF_TCP.contains(&name) => Ok(NUMBER),
            libc::IPPROTO_IP if OF_IP.contains(&name) => Ok(NUMBER),
            libc::IPPROTO_IPV6 if OF_IP_6.contains(&name) => Ok(NUMBER),
            _ => refuse(libc::ENOPROTOOPT),
        }
    }

    pub(crate) fn set(&mut self, level: i32, name: i32, mut value: Vec<u8>) {
        if level == libc::SOL_SOCKET && [libc::SO_SNDBUF, libc::SO_RCVBUF].contains(&name) {
            let asked = number(&value).clamp(0, BUFFER);
            value = (2 * asked).max(LEAST_BUFFER).to_le_bytes().to_vec();
        }
        self.0.insert((level, name), value);
    }

    pub(crate) fn get(&self, level: i32, name: i32) -> io::Result<Vec<u8>> {
        let length = Options::length(level, name)?;
        let known = self.0.get(&(level, name)).cloned();
        Ok(known.unwrap_or_else(|| {
            let value = initial(level, name).to_le_bytes();
            let mut bytes = vec![0; length];
            bytes[..NUMBER].copy_from_slice(&value);
            bytes
        }))
    }

    /// Whether one of them that is a number is set.
    pub(super) fn has(&self, level: i32, name: i32) -> bool {
        self.0.get(&(level, name)).is_some_and(|value| number(value) != 0)
    }

    /// Seconds and microseconds that a call waits at most, by the option for it.
    pub(crate) fn time(&self, name: i32) -> Option<(u64, u64)> {
        let value = self.0.get(&(libc::SOL_SOCKET, name))?;
        let word = |at: usize| value[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        Some((word(0), word(8))).filter(|time| *time != (0, 0))
    }
}

fn number(value: &[u8]) -> i32 {
    value.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes))
}

fn initial(level: i32, name: i32) -> i32 {
    match (level, name) {
        (libc::SOL_SOCKET, libc::SO_SNDBUF | libc::SO_RCVBUF) => BUFFER,
        (libc::SOL_SOCKET, libc::SO_RCVLOWAT) => 1,
        (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS) => 64,
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => 7200,
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => 75,
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => 9,
        (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => 536,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_told() {
        let mut options = Options::default();
        let (level, buffer) = (libc::SOL_SOCKET, libc::SO_RCVBUF);
        assert_eq!(number(&options.get(level, buffer).unwrap()), BUFFER);
        options.set(level, buffer, 5000_i32.to_le_bytes().to_vec());
        assert_eq!(number(&options.get(level, buffer).unwrap()), 10_000);
        let time = [3_u64.to_le_bytes(), 4_u64.to_le_bytes()].concat();
        options.set(level, libc::SO_RCVTIMEO, time);
        assert_eq!(options.time(libc::SO_RCVTIMEO), Some((3, 4)));
        assert_eq!(options.time(libc::SO_SNDTIMEO), None);
        assert!(options.get(level, 9999).is_err());
    }
}
