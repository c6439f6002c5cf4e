//! The inner loop of XXH3 with 128 bits, for long inputs and the default secret (xxHash 0.8, `xxh3.h`).

/// Bytes that are accumulated in one step.
pub(crate) const STRIPE: usize = 64;
/// Bytes between two mixings of the sums.
pub(crate) const BLOCK: usize = 1024;

/// The sums of a hash of more than 240 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(pub(crate) [u64; 8]);

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes([
            PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1,
        ])
    }
}

impl Lanes {
    /// Adds a block, which is not the last piece of the input.
    #[inline]
    pub(crate) fn block(&mut self, block: &[u8; BLOCK]) {
        self.stripes(block);
        let keys = words(SECRET.len() - STRIPE);
        for (sum, key) in self.0.iter_mut().zip(keys) {
            *sum = (*sum ^ *sum >> 47 ^ key).wrapping_mul(PRIME32_1);
        }
    }

    /// Adds the stripes at the beginning of a block.
    #[inline]
    pub(crate) fn stripes(&mut self, bytes: &[u8]) {
        for (number, stripe) in bytes.chunks_exact(STRIPE).enumerate() {
            self.stripe(stripe.try_into().expect("a stripe"), 8 * number);
        }
    }

    #[inline(always)]
    fn stripe(&mut self, stripe: &[u8; STRIPE], secret: usize) {
        let keys = words(secret);
        let data: [u64; 8] = std::array::from_fn(|lane| word(stripe, 8 * lane));
        for lane in 0..8 {
            let mixed = data[lane] ^ keys[lane];
            self.0[lane] = self.0[lane]
                .wrapping_add(data[lane ^ 1])
                .wrapping_add((mixed & 0xffff_ffff) * (mixed >> 32));
        }
    }

    /// The hash of `length` bytes, of which the last stripe is `last`.
    pub(crate) fn finish(mut self, last: &[u8; STRIPE], length: u64) -> u128 {
        self.stripe(last, SECRET.len() - STRIPE - 7);
        let low = self.merge(11, length.wrapping_mul(PRIME64_1));
        let high = self.merge(SECRET.len() - STRIPE - 11, !length.wrapping_mul(PRIME64_2));
        u128::from(high) << 64 | u128::from(low)
    }

    fn merge(&self, secret: usize, start: u64) -> u64 {
        let keys = words(secret);
        let mut sum = start;
        for pair in 0..4 {
            let [one, other] = [2 * pair, 2 * pair + 1].map(|lane| u128::from(self.0[lane] ^ keys[lane]));
            let product = one * other;
            sum = sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
        }
        sum ^= sum >> 37;
        sum = sum.wrapping_mul(0x1656_6791_9e37_79f9);
        sum ^ sum >> 32
    }
}

/// Eight words of the secret.
#[inline(always)]
fn words(from: usize) -> [u64; 8] {
    std::array::from_fn(|lane| word(&SECRET, from + 8 * lane))
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

const PRIME32_1: u64 = 0x9e37_79b1;
const PRIME32_2: u64 = 0x85eb_ca77;
const PRIME32_3: u64 = 0xc2b2_ae3d;
const PRIME64_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME64_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME64_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME64_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME64_5: u64 = 0x27d4_eb2f_1656_67c5;

const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde,
    0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79,
    0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46,
    0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb,
    0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2,
    0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c,
    0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59,
    0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3,
    0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3,
    0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8,
    0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb,
    0xca, 0xbb, 0x4b, 0x40, 0x7e,
];
