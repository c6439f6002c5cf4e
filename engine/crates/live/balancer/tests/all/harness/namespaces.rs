//! Network namespaces of a test, with a cable between them: threads go from one to another, and all of it goes
//! with the test.

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType, UnshareFlags};
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;

/// The addresses of the dispatcher's end of the cable, and of the other end.
pub const NEAR: &str = "10.9.0.1";
pub const FAR: &str = "10.9.0.2";

/// The dispatcher's interface.
pub const INTERFACE: &str = "near0";

/// Two namespaces that a `veth` joins.
pub struct Namespaces {
    near: File,
    far: File,
}

impl Namespaces {
    /// New ones; or why there are none.
    pub fn new() -> Result<Namespaces, String> {
        let namespaces = Namespaces {
            far: fresh()?,
            near: fresh()?,
        };
        let far = format!("/proc/{}/fd/{}", std::process::id(), namespaces.far.as_raw_fd());
        let pair = [
            "link", "add", INTERFACE, "type", "veth", "peer", "name", "far0", "netns",
        ];
        namespaces.near(|| {
            ip(&[&pair[..], &[&far]].concat())?;
            settle(INTERFACE, NEAR)
        })?;
        namespaces.far(|| settle("far0", FAR))?;
        Ok(namespaces)
    }

    /// Does something where the dispatcher is. Sockets and threads that are made belong there.
    pub fn near<T>(&self, act: impl FnOnce() -> T) -> T {
        enter(&self.near);
        act()
    }

    /// Does something where clients and replicas are.
    pub fn far<T>(&self, act: impl FnOnce() -> T) -> T {
        enter(&self.far);
        act()
    }
}

fn fresh() -> Result<File, String> {
    // SAFETY: file descriptors stay as they are.
    let made = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) };
    made.map_err(|error| format!("network namespaces are not permitted ({error})"))?;
    File::open("/proc/thread-self/ns/net").map_err(|error| error.to_string())
}

fn enter(namespace: &File) {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}

fn settle(interface: &str, address: &str) -> Result<(), String> {
    let host: IpAddr = address.parse().unwrap();
    ip(&["address", "add", &format!("{host}/24"), "dev", interface])?;
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "set", interface, "up"])
}

/// Calls `ip` where this thread is.
pub fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|error| format!("`ip` cannot be run ({error})"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
