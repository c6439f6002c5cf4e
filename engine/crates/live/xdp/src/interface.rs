use crate::XdpError;
use std::ffi::{CStr, CString};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A network interface of this network namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
    /// Its address of Ethernet.
    pub mac: [u8; 6],
    /// The longest packet of IP that it sends, in bytes.
    pub mtu: usize,
    /// Its addresses of IPv4.
    pub addresses: Vec<Ipv4Addr>,
}

impl Interface {
    /// The interface with a name.
    ///
    /// # Errors
    /// [`XdpError::Unknown`], [`XdpError::NotEthernet`], or another error of the kernel.
    pub fn find(name: &str) -> Result<Interface, XdpError> {
        let unknown = || XdpError::Unknown(name.into());
        let c_name = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: the name ends with a zero.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 || name.len() >= libc::IFNAMSIZ {
            return Err(unknown());
        }
        let kernel = |error| XdpError::of("asking about the interface", error);
        let hardware = ask(&c_name, libc::SIOCGIFHWADDR).map_err(kernel)?;
        // SAFETY: this request fills in this member.
        let hardware = unsafe { hardware.ifr_ifru.ifru_hwaddr };
        if hardware.sa_family != libc::ARPHRD_ETHER {
            return Err(XdpError::NotEthernet(name.into()));
        }
        let mac = std::array::from_fn(|at| hardware.sa_data[at] as u8);
        let mtu = ask(&c_name, libc::SIOCGIFMTU).map_err(kernel)?;
        // SAFETY: this request fills in this member.
        let mtu = unsafe { mtu.ifr_ifru.ifru_mtu };
        Ok(Interface {
            name: name.into(),
            index,
            mac,
            mtu: usize::try_from(mtu).unwrap_or(0),
            addresses: addresses(&c_name).map_err(kernel)?,
        })
    }
}

/// Queries one property of an interface.
fn ask(name: &CStr, request: libc::c_ulong) -> io::Result<libc::ifreq> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut answer: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in answer.ifr_name.iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    // SAFETY: a call with numbers alone; the descriptor is ours when there is one.
    let socket = unsafe {
        match libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) {
            -1 => return Err(io::Error::last_os_error()),
            socket => OwnedFd::from_raw_fd(socket),
        }
    };
    // SAFETY: these requests read the name in the structure and fill in the rest.
    match unsafe { libc::ioctl(socket.as_raw_fd(), request as _, &raw mut answer) } {
        0 => Ok(answer),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The addresses of IPv4 of an interface.
fn addresses(name: &CStr) -> io::Result<Vec<Ipv4Addr>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: it makes a list, which is freed below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: the list lives until it is freed; an address of the family IPv4 is a `sockaddr_in`.
    unsafe {
        while let Some(item) = next.as_ref() {
            let is_it = CStr::from_ptr(item.ifa_name) == name;
            if let Some(address) = item.ifa_addr.as_ref().filter(|_| is_it) {
                if i32::from(address.sa_family) == libc::AF_INET {
                    let address = item.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned();
                    found.push(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
                }
            }
            next = item.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    Ok(found)
}
