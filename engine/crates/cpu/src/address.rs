//! From virtual addresses to the host's: Sv39 (privileged manual 20211203, section 4.4), page protection, and
//! the buffers that remember both.

use crate::cause::{Cause, Exception};
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};

/// Privilege modes, with their encoding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Privilege {
    /// Programs.
    User = 0,
    /// The operating system.
    Supervisor = 1,
    /// Firmware, and bare metal.
    #[default]
    Machine = 3,
}

impl Privilege {
    /// The mode that two bits of a status register stand for; the reserved one counts as user.
    pub(crate) fn from_bits(bits: u64) -> Privilege {
        match bits & 3 {
            3 => Privilege::Machine,
            1 => Privilege::Supervisor,
            _ => Privilege::User,
        }
    }
}

/// What an access is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Fetch,
    Load,
    Store,
}

impl Purpose {
    fn protection(self) -> Protection {
        match self {
            Purpose::Fetch => Protection::EXECUTE,
            Purpose::Load => Protection::READ,
            Purpose::Store => Protection::READ_WRITE,
        }
    }

    fn page_fault(self) -> Cause {
        match self {
            Purpose::Fetch => Cause::FetchPageFault,
            Purpose::Load => Cause::LoadPageFault,
            Purpose::Store => Cause::StorePageFault,
        }
    }

    pub(crate) fn misaligned(self) -> Cause {
        match self {
            Purpose::Fetch => Cause::FetchMisaligned,
            Purpose::Load => Cause::LoadMisaligned,
            Purpose::Store => Cause::StoreMisaligned,
        }
    }

    pub(crate) fn access_fault(self) -> Cause {
        match self {
            Purpose::Fetch => Cause::FetchAccessFault,
            Purpose::Load => Cause::LoadAccessFault,
            Purpose::Store => Cause::StoreAccessFault,
        }
    }
}

/// What decides how an address is translated.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct AddressSpace {
    /// The register `satp`.
    pub(crate) satp: u64,
    /// Mode in which instructions are fetched.
    pub(crate) fetch: Privilege,
    /// Mode in which loads and stores are done.
    pub(crate) data: Privilege,
    /// Supervisor may use the pages of programs (`mstatus.SUM`).
    pub(crate) user_memory: bool,
    /// Executable pages may be read (`mstatus.MXR`).
    pub(crate) executable_readable: bool,
}

mod entry {
    pub(super) const VALID: u64 = 1;
    pub(super) const READ: u64 = 1 << 1;
    pub(super) const WRITE: u64 = 1 << 2;
    pub(super) const EXECUTE: u64 = 1 << 3;
    pub(super) const USER: u64 = 1 << 4;
    pub(super) const ACCESSED: u64 = 1 << 6;
    pub(super) const DIRTY: u64 = 1 << 7;
    /// Reserved, or of extensions that are not there.
    pub(super) const RESERVED: u64 = 0x3ff << 54;
}

impl AddressSpace {
    /// Whether translations of loads and stores under `other` may be wrong here.
    pub(crate) fn data_differs(&self, other: &AddressSpace) -> bool {
        let translated = |space: &AddressSpace| space.translates(space.data).then_some(*space);
        let unfetched = |space: AddressSpace| AddressSpace {
            fetch: Privilege::Machine,
            ..space
        };
        translated(self).map(unfetched) != translated(other).map(unfetched)
    }

    /// Whether addresses of `privilege` go through page tables.
    fn translates(&self, privilege: Privilege) -> bool {
        privilege != Privilege::Machine && self.satp >> 60 == 8
    }

    /// The physical address of `address`; sets the accessed and dirty bits of the page.
    pub(crate) fn physical(
        &self,
        memory: &mut GuestMemory,
        address: u64,
        purpose: Purpose,
    ) -> Result<u64, Exception> {
        let privilege = match purpose {
            Purpose::Fetch => self.fetch,
            _ => self.data,
        };
        if !self.translates(privilege) {
            return Ok(address);
        }
        let fault = |cause| Exception {
            cause,
            value: address,
        };
        if (address as i64) << 25 >> 25 != address as i64 {
            return Err(fault(purpose.page_fault()));
        }
        let mut table = (self.satp & 0xfff_ffff_ffff) * PAGE_BYTES;
        for level in (0..3).rev() {
            let place = table + (address >> (12 + 9 * level) & 0x1ff) * 8;
            let mut bytes = [0; 8];
            if memory.read(place, &mut bytes).is_err() {
                return Err(fault(purpose.access_fault()));
            }
            let found = u64::from_le_bytes(bytes);
            if !well_formed(found) {
                return Err(fault(purpose.page_fault()));
            }
            let page = (found >> 10 & 0xfff_ffff_ffff) * PAGE_BYTES;
            if found & (entry::READ | entry::EXECUTE) == 0 {
                table = page;
                continue;
            }
            let span = PAGE_BYTES << (9 * level);
            if page & (span - 1) != 0 || !self.permits(found, privilege, purpose) {
                return Err(fault(purpose.page_fault()));
            }
            let mark = entry::ACCESSED
                | if purpose == Purpose::Store {
                    entry::DIRTY
                } else {
                    0
                };
            if found | mark != found && memory.write(place, &(found | mark).to_le_bytes()).is_err() {
                return Err(fault(purpose.access_fault()));
            }
            return Ok(page | address & (span - 1));
        }
        Err(fault(purpose.page_fault()))
    }

    fn permits(&self, found: u64, privilege: Privilege, purpose: Purpose) -> bool {
        let user_page = found & entry::USER != 0;
        let reachable = match privilege {
            Privilege::User => user_page,
            _ => !user_page || (self.user_memory && purpose != Purpose::Fetch),
        };
        let readable = entry::READ
            | if self.executable_readable {
                entry::EXECUTE
            } else {
                0
            };
        reachable
            && match purpose {
                Purpose::Fetch => found & entry::EXECUTE != 0,
                Purpose::Load => found & readable != 0,
                Purpose::Store => found & entry::WRITE != 0,
            }
    }
}

fn well_formed(found: u64) -> bool {
    let writable_only = found & (entry::READ | entry::WRITE) == entry::WRITE;
    let pointer = found & (entry::READ | entry::EXECUTE) == 0;
    let marked_pointer = pointer && found & (entry::ACCESSED | entry::DIRTY | entry::USER) != 0;
    found & entry::VALID != 0 && found & entry::RESERVED == 0 && !writable_only && !marked_pointer
}

/// Whether all of the page at `physical` may be used for `purpose`.
pub(crate) fn allowed(memory: &GuestMemory, physical: u64, purpose: Purpose) -> bool {
    memory.protection(physical).allows(purpose.protection())
}

const ENTRIES: usize = 512;
/// No address, however masked, equals this.
const EMPTY: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Translation {
    page: u64,
    /// What is added to a virtual address to get the host's.
    offset: u64,
}

/// A direct-mapped buffer of translations for one purpose.
pub(crate) struct Translations([Translation; ENTRIES]);

impl Default for Translations {
    fn default() -> Translations {
        Translations(
            [Translation {
                page: EMPTY,
                offset: 0,
            }; ENTRIES],
        )
    }
}

impl Translations {
    /// Where the aligned `bytes` bytes at `address` lie on the host, if that is remembered.
    #[inline(always)]
    pub(crate) fn host(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let found = &self.0[(address / PAGE_BYTES) as usize % ENTRIES];
        if found.page == address & (!(PAGE_BYTES - 1) | (bytes - 1)) {
            Some(address.wrapping_add(found.offset) as *mut u8)
        } else {
            None
        }
    }

    /// Remembers that the page of `address` is the one that `host`, the place of `address`, lies in.
    pub(crate) fn remember(&mut self, address: u64, host: *mut u8) {
        self.0[(address / PAGE_BYTES) as usize % ENTRIES] = Translation {
            page: address & !(PAGE_BYTES - 1),
            offset: (host as u64).wrapping_sub(address),
        };
    }

    pub(crate) fn clear(&mut self) {
        self.0.fill(Translation {
            page: EMPTY,
            offset: 0,
        });
    }
}
