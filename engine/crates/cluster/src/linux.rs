use crate::{Argument, ClusterError, LinuxSpec};
use rackwright_boot::Software;
use rackwright_ethernet::Ipv4;
use rackwright_traffic::Peer;
use std::fmt::Write;

/// Bits of an address that name the network, which all servers of a cluster share.
const PREFIX: u8 = 16;

/// What a server boots, out of the file of its image; `None` when the file is shorter than its parts.
pub(crate) fn software<'a>(spec: &'a LinuxSpec, image: &'a [u8]) -> Option<Software<'a>> {
    let part = |(first, bytes): (usize, usize)| image.get(first..first.checked_add(bytes)?);
    Some(Software {
        firmware: part(spec.image.firmware)?,
        kernel: part(spec.image.kernel)?,
        initial_files: part(spec.image.files)?,
        command_line: &spec.command_line,
    })
}

/// What the server's shell does: its interface gets its address, and then what the user wants.
pub(crate) fn command<'a>(
    spec: &LinuxSpec,
    address: Ipv4,
    named: impl Fn(&str) -> Result<&'a Peer, ClusterError>,
) -> Result<Vec<u8>, ClusterError> {
    let mut known = String::new();
    let mut wanted = String::new();
    for argument in &spec.command {
        match argument {
            Argument::Text(text) => wanted.push_str(text),
            Argument::Address { address_of } => {
                let Peer { mac, endpoint, .. } = named(address_of)?;
                wanted.push_str(&endpoint.address.to_string());
                if spec.static_arp {
                    writeln!(known, "arp -s {} {mac}", endpoint.address).expect("text grows");
                }
            }
        }
    }
    let network =
        format!("modprobe virtio_net\nip address add {address}/{PREFIX} dev eth0\nip link set eth0 up\n");
    Ok(format!("{network}{known}{wanted}\n").into_bytes())
}
