use rackwright_boot::Image;
use rackwright_memory::{GuestFault, GuestMemory, PAGE_BYTES};

// Keys of the auxiliary vector.
const AT_NULL: u64 = 0;
const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_ENTRY: u64 = 9;
const AT_UID: u64 = 11;
const AT_EUID: u64 = 12;
const AT_GID: u64 = 13;
const AT_EGID: u64 = 14;
const AT_HWCAP: u64 = 16;
const AT_CLKTCK: u64 = 17;
const AT_SECURE: u64 = 23;
const AT_RANDOM: u64 = 25;

/// Single-letter extensions in the format of Linux: bit n stands for the letter 'A' + n. Here IMAFDCV.
const HARDWARE: u64 = {
    let letters = b"IMAFDCV";
    let mut bits = 0;
    let mut index = 0;
    while index < letters.len() {
        bits |= 1 << (letters[index] - b'A');
        index += 1;
    }
    bits
};

const CLOCK_TICKS: u64 = 100;

/// Writes the initial stack of a program; returns the stack pointer.
pub(crate) fn build(
    memory: &mut GuestMemory,
    top: u64,
    image: &Image,
    arguments: &[Vec<u8>],
    environment: &[Vec<u8>],
    random: [u8; 16],
) -> Result<u64, GuestFault> {
    let mut stack = Stack { memory, top };
    let random = stack.push(&random)?;
    let arguments = stack.push_strings(arguments)?;
    let environment = stack.push_strings(environment)?;
    let mut words = vec![arguments.len() as u64];
    words.extend(arguments);
    words.push(0);
    words.extend(environment);
    words.push(0);
    for (key, value) in auxiliary(image, random) {
        words.extend([key, value]);
    }
    stack.push_words(&words)
}

fn auxiliary(image: &Image, random: u64) -> [(u64, u64); 14] {
    [
        (AT_PHDR, image.headers),
        (AT_PHENT, image.header_size),
        (AT_PHNUM, image.header_count),
        (AT_PAGESZ, PAGE_BYTES),
        (AT_ENTRY, image.entry),
        (AT_UID, 0),
        (AT_EUID, 0),
        (AT_GID, 0),
        (AT_EGID, 0),
        (AT_HWCAP, HARDWARE),
        (AT_CLKTCK, CLOCK_TICKS),
        (AT_SECURE, 0),
        (AT_RANDOM, random),
        (AT_NULL, 0),
    ]
}

struct Stack<'a> {
    memory: &'a mut GuestMemory,
    top: u64,
}

impl Stack<'_> {
    fn push(&mut self, bytes: &[u8]) -> Result<u64, GuestFault> {
        self.top -= bytes.len() as u64;
        self.memory.write(self.top, bytes)?;
        Ok(self.top)
    }

    fn push_strings(&mut self, strings: &[Vec<u8>]) -> Result<Vec<u64>, GuestFault> {
        strings
            .iter()
            .map(|string| {
                self.push(&[0])?;
                self.push(string)
            })
            .collect()
    }

    /// The last words pushed: the stack pointer is aligned to 16 bytes, as required by the calling convention.
    fn push_words(&mut self, words: &[u64]) -> Result<u64, GuestFault> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.top = (self.top - bytes.len() as u64) & !15;
        self.memory.write(self.top, &bytes)?;
        Ok(self.top)
    }
}
