//! Addresses of sockets, as programs write and read them.

use super::Domain;
use crate::calls::refuse;
use crate::gather;
use rackwright_memory::GuestMemory;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Bytes of `struct sockaddr_in`, of `struct sockaddr_in6` without its scope, and of `struct sockaddr_un`.
const INTERNET_BYTES: usize = 16;
const INTERNET6_BYTES: usize = 24;
const LOCAL_BYTES: usize = 110;
/// Bytes of the family, which is the first field.
const FAMILY_BYTES: usize = 2;

/// An address of a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Address {
    Internet(SocketAddr),
    /// A path, or a name that begins with a zero, or empty.
    Local(Vec<u8>),
}

impl Address {
    /// The address of a socket without one.
    pub(crate) fn none(domain: Domain) -> Address {
        match domain {
            Domain::Internet => Address::Internet((Ipv4Addr::UNSPECIFIED, 0).into()),
            Domain::Internet6 => Address::Internet((Ipv6Addr::UNSPECIFIED, 0).into()),
            Domain::Local => Address::Local(Vec::new()),
        }
    }

    /// The address with this length at `place`; none for `AF_UNSPEC`.
    pub(crate) fn load(memory: &GuestMemory, place: u64, length: u64) -> io::Result<Option<Address>> {
        let length = length as u32 as usize;
        if !(FAMILY_BYTES..=128).contains(&length) {
            return refuse(libc::EINVAL);
        }
        let bytes = gather::bytes(memory, place, length as u64)?;
        let family = i32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let port = || u16::from_be_bytes([bytes[2], bytes[3]]);
        match family {
            libc::AF_UNSPEC => Ok(None),
            libc::AF_INET if length >= INTERNET_BYTES => {
                let ip: [u8; 4] = bytes[4..8].try_into().expect("four bytes");
                Ok(Some(Address::Internet((ip, port()).into())))
            }
            libc::AF_INET6 if length >= INTERNET6_BYTES => {
                let ip: [u8; 16] = bytes[8..24].try_into().expect("sixteen bytes");
                Ok(Some(Address::Internet((ip, port()).into())))
            }
            libc::AF_UNIX if length <= LOCAL_BYTES => {
                let name = &bytes[FAMILY_BYTES..];
                let end = match name.first() {
                    Some(0) | None => name.len(),
                    Some(_) => name.iter().position(|byte| *byte == 0).unwrap_or(name.len()),
                };
                Ok(Some(Address::Local(name[..end].to_vec())))
            }
            libc::AF_INET | libc::AF_INET6 | libc::AF_UNIX => refuse(libc::EINVAL),
            _ => refuse(libc::EAFNOSUPPORT),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Address::Internet(SocketAddr::V4(address)) => {
                bytes.extend_from_slice(&(libc::AF_INET as u16).to_le_bytes());
                bytes.extend_from_slice(&address.port().to_be_bytes());
                bytes.extend_from_slice(&address.ip().octets());
                bytes.resize(INTERNET_BYTES, 0);
            }
            Address::Internet(SocketAddr::V6(address)) => {
                bytes.extend_from_slice(&(libc::AF_INET6 as u16).to_le_bytes());
                bytes.extend_from_slice(&address.port().to_be_bytes());
                bytes.extend_from_slice(&[0; 4]);
                bytes.extend_from_slice(&address.ip().octets());
                bytes.extend_from_slice(&[0; 4]);
            }
            Address::Local(name) => {
                bytes.extend_from_slice(&(libc::AF_UNIX as u16).to_le_bytes());
                bytes.extend_from_slice(name);
                if name.first().is_some_and(|byte| *byte != 0) {
                    bytes.push(0);
                }
            }
        }
        bytes
    }

    /// Stores it at `place`, as far as there is room according to the length at `length`, which is set to the complete
    /// length; zero without an address. Nothing is stored if `place` is zero.
    pub(crate) fn store(
        address: Option<&Address>,
        memory: &mut GuestMemory,
        place: u64,
        length: u64,
    ) -> io::Result<u64> {
        if place == 0 {
            return Ok(0);
        }
        let room = gather::half_word(memory, length)?;
        if room > i32::MAX as u32 {
            return refuse(libc::EINVAL);
        }
        let bytes = address.map(Address::bytes).unwrap_or_default();
        let count = bytes.len().min(room as usize);
        memory.write(place, &bytes[..count]).map_err(gather::fault)?;
        memory
            .write(length, &(bytes.len() as u32).to_le_bytes())
            .map_err(gather::fault)?;
        Ok(0)
    }

    /// The address as seen by sockets of a domain: those of version 6 see addresses of version 4 as mapped ones.
    pub(crate) fn seen_by(self, domain: Domain) -> Address {
        let Address::Internet(address) = self else {
            return self;
        };
        match (plain(address), domain) {
            (SocketAddr::V4(address), Domain::Internet6) => {
                let ip = address.ip().to_ipv6_mapped();
                Address::Internet(SocketAddrV6::new(ip, address.port(), 0, 0).into())
            }
            (address, _) => Address::Internet(address),
        }
    }
}

/// The same address without a version 4 inside version 6.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The destination of data sent to an address: any address stands for this machine.
pub(super) fn destination(address: SocketAddr) -> SocketAddr {
    let address = plain(address);
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The source address of data sent to `destination`.
pub(super) fn source(destination: SocketAddr, port: u16) -> SocketAddr {
    let ip = if destination.is_ipv4() {
        Ipv4Addr::LOCALHOST.into()
    } else {
        Ipv6Addr::LOCALHOST.into()
    };
    SocketAddr::new(ip, port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_memory::Protection;

    #[test]
    fn addresses_are_read_as_they_were_written() {
        let mut memory = GuestMemory::new(8192).unwrap();
        memory.protect(0, 8192, Protection::READ_WRITE).unwrap();
        let addresses = [
            Address::Internet("127.0.0.1:80".parse().unwrap()),
            Address::Internet("[::1]:8080".parse().unwrap()),
            Address::Local(b"a/path".to_vec()),
            Address::Local(b"\0abstract".to_vec()),
            Address::Local(Vec::new()),
        ];
        for address in addresses {
            memory.write(0, &110_u32.to_le_bytes()).unwrap();
            Address::store(Some(&address), &mut memory, 64, 0).unwrap();
            let length = gather::half_word(&memory, 0).unwrap();
            let again = Address::load(&memory, 64, length.into()).unwrap();
            assert_eq!(again, Some(address));
        }
        assert!(Address::load(&memory, 64, 1).is_err());
    }
}
