use crate::{Argument, ClusterError, ImageSpec, LinuxSpec, StartSpec};
use rackwright_boot::Software;
use rackwright_ethernet::Ipv4;
use rackwright_traffic::Peer;
use std::fmt::Write;

/// Bits of an address that name the network, which all servers of a cluster share.
const PREFIX: u8 = 16;

impl ImageSpec {
    /// The software that a server boots, from the image's `file`; `None` if the file is shorter than its parts.
    pub fn software<'a>(&self, file: &'a [u8], command_line: &'a str) -> Option<Software<'a>> {
        let part = |(first, bytes): (usize, usize)| file.get(first..first.checked_add(bytes)?);
        Some(Software {
            firmware: part(self.firmware)?,
            kernel: part(self.kernel)?,
            initial_files: part(self.files)?,
            command_line,
        })
    }
}

/// The commands of the server's shell: it sets this name and address, and then executes the user's command.
pub(crate) fn command<'a>(
    spec: &LinuxSpec,
    (name, address): (&str, Ipv4),
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
    let find = match spec.start {
        StartSpec::Reset { .. } => "",
        // The network interface did not exist when Linux enumerated devices, and all servers have the same random
        // numbers.
        StartSpec::Booted { .. } => "echo 1 >/sys/bus/pci/rescan\nhead -c 512 /dev/hwrng >/dev/urandom\n",
    };
    let identity = format!(
        "hostname {name}\n{find}modprobe virtio_net\nip address add {address}/{PREFIX} dev eth0\nip link set eth0 up\n",
        name = quoted(name)
    );
    Ok(format!("{identity}{known}{wanted}\n").into_bytes())
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_a_shell() {
        assert_eq!(quoted("rack 1; it's"), r"'rack 1; it'\''s'");
    }
}
