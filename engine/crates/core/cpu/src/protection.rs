//! Physical memory protection (privileged manual 20211203, section 3.7): the accesses to physical memory that modes
//! below the firmware's are allowed.
//!
//! Sixteen regions with the granularity of a page, so that one result holds for all of a page and is cached with its
//! translation: smaller regions are not supported, and the low bits of addresses read as the manual specifies.

use crate::address::{Privilege, Purpose};
use rackwright_memory::PAGE_BYTES;
use serde::{Deserialize, Serialize};

const REGIONS: usize = 16;
/// Number of regions in one configuration register of RV64.
const PER_REGISTER: u16 = 8;
/// Addresses of regions are in units of four bytes; this number of their low bits is within a page.
const WITHIN_PAGE: u32 = PAGE_BYTES.trailing_zeros() - 2;
const ADDRESS_BITS: u64 = (1 << 54) - 1;

mod bit {
    pub(super) const READ: u8 = 1;
    pub(super) const WRITE: u8 = 1 << 1;
    pub(super) const EXECUTE: u8 = 1 << 2;
    pub(super) const MATCHING: u8 = 3 << 3;
    /// From the address of the region before to this one's.
    pub(super) const TOP_OF_RANGE: u8 = 1 << 3;
    /// A power of two, encoded by the lowest zero of the address.
    pub(super) const NATURAL: u8 = 3 << 3;
    pub(super) const LOCKED: u8 = 1 << 7;
}

/// The registers `pmpcfg` and `pmpaddr`.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Regions {
    configurations: [u8; REGIONS],
    addresses: [u64; REGIONS],
}

/// The meaning of a control register number.
#[derive(Clone, Copy)]
enum Register {
    /// Eight configurations, from this region on.
    Configurations(usize),
    Address(usize),
}

fn register(number: u16) -> Option<Register> {
    match number {
        0x3a0 | 0x3a2 => Some(Register::Configurations(usize::from(
            (number - 0x3a0) / 2 * PER_REGISTER,
        ))),
        0x3b0..=0x3bf => Some(Register::Address(usize::from(number - 0x3b0))),
        _ => None,
    }
}

impl Regions {
    /// Without firmware to set up regions: all accesses are allowed.
    pub(crate) fn open() -> Regions {
        let mut regions = Regions::default();
        regions.configurations[0] = bit::NATURAL | bit::READ | bit::WRITE | bit::EXECUTE;
        regions.addresses[0] = ADDRESS_BITS;
        regions
    }

    /// The value of control register `number`, if it is one of these registers.
    pub(crate) fn read(&self, number: u16) -> Option<u64> {
        Some(match register(number)? {
            Register::Configurations(first) => {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&self.configurations[first..first + 8]);
                u64::from_le_bytes(bytes)
            }
            Register::Address(region) => self.address_as_read(region),
        })
    }

    /// Writes control register `number`; returns whether it is one of these registers.
    pub(crate) fn write(&mut self, number: u16, value: u64) -> bool {
        match register(number) {
            Some(Register::Configurations(first)) => {
                for (region, byte) in (first..).zip(value.to_le_bytes()) {
                    self.configure(region, byte);
                }
            }
            Some(Register::Address(region)) => {
                if !self.address_is_locked(region) {
                    self.addresses[region] = value & ADDRESS_BITS;
                }
            }
            None => return false,
        }
        true
    }

    fn configure(&mut self, region: usize, byte: u8) {
        if self.configurations[region] & bit::LOCKED != 0 {
            return;
        }
        let mut legal = byte & !(3 << 5);
        // Writable without readable is reserved; regions of four bytes are smaller than a page.
        if legal & bit::READ == 0 {
            legal &= !bit::WRITE;
        }
        if legal & bit::MATCHING == 2 << 3 {
            legal |= bit::NATURAL;
        }
        self.configurations[region] = legal;
    }

    fn address_is_locked(&self, region: usize) -> bool {
        let locked = |region: usize| self.configurations[region] & bit::LOCKED != 0;
        let bounds_next = region + 1 < REGIONS
            && locked(region + 1)
            && self.configurations[region + 1] & bit::MATCHING == bit::TOP_OF_RANGE;
        locked(region) || bounds_next
    }

    fn address_as_read(&self, region: usize) -> u64 {
        let address = self.addresses[region];
        if self.configurations[region] & bit::NATURAL & !bit::TOP_OF_RANGE != 0 {
            address | ((1 << (WITHIN_PAGE - 1)) - 1)
        } else {
            address & !((1 << WITHIN_PAGE) - 1)
        }
    }

    /// Whether `privilege` may use the page at `physical` for `purpose`.
    pub(crate) fn permit(&self, privilege: Privilege, purpose: Purpose, physical: u64) -> bool {
        let page = physical / PAGE_BYTES;
        let Some(region) = (0..REGIONS).find(|region| self.holds(*region, page)) else {
            return privilege == Privilege::Machine;
        };
        let configuration = self.configurations[region];
        if privilege == Privilege::Machine && configuration & bit::LOCKED == 0 {
            return true;
        }
        let needed = match purpose {
            Purpose::Fetch => bit::EXECUTE,
            Purpose::Load => bit::READ,
            Purpose::Store => bit::WRITE,
        };
        configuration & needed != 0
    }

    fn holds(&self, region: usize, page: u64) -> bool {
        match self.configurations[region] & bit::MATCHING {
            0 => false,
            bit::TOP_OF_RANGE => {
                let bottom = region.checked_sub(1).map_or(0, |before| self.addresses[before]);
                (bottom >> WITHIN_PAGE..self.addresses[region] >> WITHIN_PAGE).contains(&page)
            }
            _ => {
                let address = self.address_as_read(region);
                let size = address.trailing_ones() + 1;
                (page << WITHIN_PAGE ^ address) >> size == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIGURATIONS: u16 = 0x3a0;
    const ADDRESSES: u16 = 0x3b0;
    const LOCKED: u8 = bit::LOCKED;

    fn with(entries: &[(u8, u64)]) -> Regions {
        let mut regions = Regions::default();
        let mut bytes = [0; 8];
        for (region, (configuration, address)) in entries.iter().enumerate() {
            regions.write(ADDRESSES + region as u16, *address);
            bytes[region] = *configuration;
        }
        regions.write(CONFIGURATIONS, u64::from_le_bytes(bytes));
        regions
    }

    fn supervisor_reads(regions: &Regions, physical: u64) -> bool {
        regions.permit(Privilege::Supervisor, Purpose::Load, physical)
    }

    #[test]
    fn without_regions_only_the_firmware_goes_anywhere() {
        let regions = Regions::default();
        assert!(regions.permit(Privilege::Machine, Purpose::Store, 0x8000_0000));
        assert!(!supervisor_reads(&regions, 0x8000_0000));
        assert!(supervisor_reads(&Regions::open(), 0x8000_0000));
        assert!(supervisor_reads(&Regions::open(), 0));
    }

    #[test]
    fn a_natural_region_of_256_kib_ends_where_its_size_says() {
        let regions = with(&[(0x18, 0x8000_0000 >> 2 | 0x7fff), (0x1f, u64::MAX)]);
        assert!(!supervisor_reads(&regions, 0x8000_0000));
        assert!(!supervisor_reads(&regions, 0x8003_ffff));
        assert!(supervisor_reads(&regions, 0x8004_0000));
        assert!(supervisor_reads(&regions, 0x7fff_ffff));
        assert!(regions.permit(Privilege::Machine, Purpose::Store, 0x8000_0000));
    }

    #[test]
    fn the_top_of_a_range_is_not_in_it() {
        let regions = with(&[(0, 0x1000 >> 2), (0x09, 0x5000 >> 2)]);
        for (physical, expected) in [(0xfff, false), (0x1000, true), (0x4fff, true), (0x5000, false)] {
            assert_eq!(supervisor_reads(&regions, physical), expected, "{physical:#x}");
        }
        assert!(!regions.permit(Privilege::User, Purpose::Fetch, 0x2000));
    }

    #[test]
    fn what_is_locked_binds_the_firmware_too_and_stays() {
        let mut regions = with(&[(0, 0x1000 >> 2), (LOCKED | 0x09, 0x5000 >> 2)]);
        assert!(!regions.permit(Privilege::Machine, Purpose::Store, 0x2000));
        regions.write(CONFIGURATIONS, 0);
        regions.write(ADDRESSES, 0);
        regions.write(ADDRESSES + 1, 0);
        assert!(!supervisor_reads(&regions, 0xfff));
        assert!(supervisor_reads(&regions, 0x4fff));
    }

    #[test]
    fn firmware_finds_out_the_granularity_of_a_page() {
        let mut regions = Regions::default();
        regions.write(ADDRESSES, u64::MAX);
        assert_eq!(regions.read(ADDRESSES), Some(ADDRESS_BITS & !0x3ff));
        regions.write(CONFIGURATIONS, 0x18);
        assert_eq!(regions.read(ADDRESSES), Some(ADDRESS_BITS));
        regions.write(ADDRESSES, 0);
        assert_eq!(regions.read(ADDRESSES), Some(0x1ff));
        regions.write(CONFIGURATIONS, 0x12);
        assert_eq!(
            regions.read(CONFIGURATIONS),
            Some(0x18),
            "what is reserved is not kept"
        );
        assert_eq!(regions.read(0x3a1), None);
    }
}
