use crate::error::ServerError;
use rackwright_boot::BareMetal;
use rackwright_ethernet::{Ipv4, Mac};
use rackwright_memory::GuestMemory;

/// Bytes at the end of memory that are reserved for the boot information of a bare-metal program.
pub(crate) const BYTES: u64 = 4096;

/// Words before the pointers to the arguments.
const HEAD_WORDS: usize = 4;

/// The boot information of a bare-metal program: `struct boot_information` in `software/bare-metal/bare.h`.
#[derive(Default)]
pub(crate) struct BootInformation<'a> {
    /// The Internet address of the server, zero without a network.
    pub(crate) address: u32,
    /// Internet and hardware addresses of other servers.
    pub(crate) neighbours: &'a [(Ipv4, Mac)],
    pub(crate) arguments: &'a [Vec<u8>],
}

impl BootInformation<'_> {
    /// Stores it at the end of the memory of bare metal, which ends at `end`.
    ///
    /// # Errors
    /// [`ServerError::Arguments`] when it does not fit.
    pub(crate) fn store(&self, memory: &mut GuestMemory, end: u64) -> Result<(), ServerError> {
        let place = end - BYTES;
        let mut strings = Vec::new();
        // The neighbours follow the pointers to the strings, the last of which is null; the strings are at the end.
        let neighbours = place + 8 * (HEAD_WORDS + self.arguments.len() + 1) as u64;
        let first = neighbours + 16 * self.neighbours.len() as u64;
        let counts = [self.neighbours.len(), self.arguments.len()].map(|count| count as u64);
        let mut words = vec![u64::from(self.address), counts[0], neighbours, counts[1]];
        debug_assert_eq!(words.len(), HEAD_WORDS);
        for argument in self.arguments {
            words.push(first + strings.len() as u64);
            strings.extend(argument);
            strings.push(0);
        }
        words.push(0);
        for (address, mac) in self.neighbours {
            words.extend([u64::from(address.to_bits()), mac.bits()]);
        }
        let bytes: Vec<u8> = words
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .chain(strings)
            .collect();
        if bytes.len() as u64 > BYTES {
            return Err(ServerError::Arguments { bytes: bytes.len() });
        }
        debug_assert!(place >= BareMetal::MEMORY_BASE);
        Ok(memory.load(place, &bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_memory::PAGE_BYTES;

    const END: u64 = BareMetal::MEMORY_BASE + 4 * PAGE_BYTES;

    fn word(memory: &GuestMemory, address: u64) -> u64 {
        let mut bytes = [0; 8];
        memory.read(address, &mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    }

    #[test]
    fn arguments_and_neighbours_are_found_through_their_pointers() {
        let mut memory = GuestMemory::new(END).unwrap();
        memory.allow_all();
        let arguments = [b"ping".to_vec(), b"-n".to_vec()];
        let information = BootInformation {
            address: 0xac10_0002,
            neighbours: &[(Ipv4::new(172, 16, 0, 3), Mac::assigned(3))],
            arguments: &arguments,
        };
        information.store(&mut memory, END).unwrap();
        let place = END - BYTES;
        assert_eq!(
            [0, 8, 24, 48].map(|at| word(&memory, place + at)),
            [0xac10_0002, 1, 2, 0]
        );
        let neighbour = word(&memory, place + 16);
        assert_eq!(
            [0, 8].map(|at| word(&memory, neighbour + at)),
            [0xac10_0003, Mac::assigned(3).bits()]
        );
        let mut text = [0; 3];
        memory.read(word(&memory, place + 40), &mut text).unwrap();
        assert_eq!(&text, b"-n\0");
    }

    #[test]
    fn too_many_arguments_are_refused() {
        let mut memory = GuestMemory::new(END).unwrap();
        let arguments = [vec![b'x'; 5000]];
        let information = BootInformation {
            arguments: &arguments,
            ..BootInformation::default()
        };
        let error = information.store(&mut memory, END).unwrap_err();
        assert!(error.to_string().contains("4096"), "{error}");
    }
}
