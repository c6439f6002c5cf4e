//! From virtual addresses to physical ones: Sv39 and Sv48 (privileged manual 20211203, sections 4.4 and 4.5), and
//! page protection.

use crate::cause::{Cause, Exception};
use crate::control::Legal;
use crate::protection::Regions;
use crate::translations::{DataKey, FetchKey};
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use serde::{Deserialize, Serialize};

/// Privilege modes, with their encoding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug, Serialize, Deserialize)]
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

/// Where a virtual address leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) physical: u64,
    /// Bytes of the page that it lies in.
    pub(crate) span: u64,
}

mod entry {
    pub(super) const VALID: u64 = 1;
    pub(super) const READ: u64 = 1 << 1;
    pub(super) const WRITE: u64 = 1 << 2;
    pub(super) const EXECUTE: u64 = 1 << 3;
    pub(super) const USER: u64 = 1 << 4;
    pub(super) const ACCESSED: u64 = 1 << 6;
    pub(super) const DIRTY: u64 = 1 << 7;
    /// Of an entry that is not valid, whose bits belong to software: what kind of page it stands for, and that of a page
    /// on a memory blade (`hardware/src/main/scala/rackwright/pagefault/README.md`).
    pub(super) const KIND: u64 = 3 << 8;
    pub(super) const REMOTE: u64 = 1 << 8;
    /// Reserved, or of extensions that are not there.
    pub(super) const RESERVED: u64 = 0x3ff << 54;
}

impl AddressSpace {
    /// What decides how loads and stores are translated.
    pub(crate) fn data_key(&self) -> DataKey {
        if !self.translates(self.data) {
            return DataKey {
                privilege: self.data,
                ..DataKey::default()
            };
        }
        DataKey {
            satp: self.satp,
            privilege: self.data,
            user_memory: self.user_memory,
            executable_readable: self.executable_readable,
        }
    }

    /// What decides how instructions are translated and decoded.
    pub(crate) fn fetch_key(&self, legal: Legal) -> FetchKey {
        FetchKey {
            satp: if self.translates(self.fetch) { self.satp } else { 0 },
            privilege: self.fetch,
            legal,
        }
    }

    /// Whether addresses of `privilege` go through page tables.
    fn translates(&self, privilege: Privilege) -> bool {
        privilege != Privilege::Machine && self.satp >> 60 != 0
    }

    /// Levels of the page tables: three in Sv39 (mode 8), four in Sv48 (mode 9).
    fn levels(&self) -> u32 {
        (self.satp >> 60) as u32 - 5
    }

    /// The mode in which accesses for `purpose` are done.
    fn privilege(&self, purpose: Purpose) -> Privilege {
        match purpose {
            Purpose::Fetch => self.fetch,
            _ => self.data,
        }
    }

    /// The physical address of `address`, which the mode may use as far as `regions` say; sets the accessed and dirty
    /// bits of the page.
    pub(crate) fn physical(
        &self,
        memory: &mut GuestMemory,
        regions: &Regions,
        address: u64,
        purpose: Purpose,
    ) -> Result<Found, Exception> {
        let found = self.translate(memory, regions, address, purpose)?;
        if regions.permit(self.privilege(purpose), purpose, found.physical) {
            return Ok(found);
        }
        Err(Exception {
            cause: purpose.access_fault(),
            value: address,
        })
    }

    fn translate(
        &self,
        memory: &mut GuestMemory,
        regions: &Regions,
        address: u64,
        purpose: Purpose,
    ) -> Result<Found, Exception> {
        let privilege = self.privilege(purpose);
        if !self.translates(privilege) {
            let (physical, span) = (address, PAGE_BYTES);
            return Ok(Found { physical, span });
        }
        let fault = |cause| Exception {
            cause,
            value: address,
        };
        if !self.is_canonical(address) {
            return Err(fault(purpose.page_fault()));
        }
        let mut table = (self.satp & 0xfff_ffff_ffff) * PAGE_BYTES;
        for level in (0..self.levels()).rev() {
            let place = table + (address >> (12 + 9 * level) & 0x1ff) * 8;
            let mut bytes = [0; 8];
            let walks = |purpose| regions.permit(Privilege::Supervisor, purpose, place);
            if !walks(Purpose::Load) || memory.read(place, &mut bytes).is_err() {
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
            if found | mark != found {
                let marked = (found | mark).to_le_bytes();
                if !walks(Purpose::Store) || memory.store(place, &marked).is_err() {
                    return Err(fault(purpose.access_fault()));
                }
            }
            let physical = page | address & (span - 1);
            return Ok(Found { physical, span });
        }
        Err(fault(purpose.page_fault()))
    }

    /// The place of the entry of `address` in a table of the lowest level, if it is that of a remote page.
    pub(crate) fn remote_entry(&self, memory: &GuestMemory, address: u64) -> Option<u64> {
        self.remote(memory, address).map(|(place, _)| place)
    }

    /// The same, if an access for `purpose` may use the page when it has come. Pages of instructions are not told of.
    pub(crate) fn remote_page(
        &self,
        memory: &GuestMemory,
        regions: &Regions,
        address: u64,
        purpose: Purpose,
    ) -> Option<u64> {
        let privilege = self.privilege(purpose);
        if !self.translates(privilege) || !self.is_canonical(address) {
            return None;
        }
        let (place, found) = self.remote(memory, address)?;
        let walks = regions.permit(Privilege::Supervisor, Purpose::Store, place);
        let usable = found & entry::EXECUTE == 0 && self.permits(found, privilege, purpose);
        (walks && usable).then_some(place)
    }

    /// The entry of a remote page, and its place.
    fn remote(&self, memory: &GuestMemory, address: u64) -> Option<(u64, u64)> {
        let mut table = (self.satp & 0xfff_ffff_ffff) * PAGE_BYTES;
        for level in (0..self.levels()).rev() {
            let place = table + (address >> (12 + 9 * level) & 0x1ff) * 8;
            let mut bytes = [0; 8];
            memory.read(place, &mut bytes).ok()?;
            let found = u64::from_le_bytes(bytes);
            if level == 0 {
                let remote = found & (entry::VALID | entry::KIND) == entry::REMOTE;
                return remote.then_some((place, found));
            }
            if found & (entry::VALID | entry::READ | entry::EXECUTE) != entry::VALID {
                return None;
            }
            table = (found >> 10 & 0xfff_ffff_ffff) * PAGE_BYTES;
        }
        None
    }

    /// Whether all bits of `address` that page tables don't use are copies of the highest one that they do.
    fn is_canonical(&self, address: u64) -> bool {
        let unused = 64 - 12 - 9 * self.levels();
        (address as i64) << unused >> unused == address as i64
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
