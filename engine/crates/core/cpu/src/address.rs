//! Translation of virtual addresses for harts: permissions of a page, and its accessed and dirty bits (privileged
//! manual 20211203, section 4.3.2).

use crate::cause::{Cause, Exception};
use crate::control::Legal;
use crate::protection::Regions;
use crate::translations::{DataKey, FetchKey};
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use rackwright_translation::{bit, Entry, PageTables, Walk};
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
    /// The mode encoded by two bits of a status register; the reserved one counts as user.
    pub(crate) fn from_bits(bits: u64) -> Privilege {
        match bits & 3 {
            3 => Privilege::Machine,
            1 => Privilege::Supervisor,
            _ => Privilege::User,
        }
    }
}

/// The purpose of an access.
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

/// The state that determines how an address is translated.
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

/// The result of a translation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) physical: u64,
    /// Size in bytes of its page.
    pub(crate) span: u64,
}

/// The software bits in the entry of a page on a memory blade, which is not valid
/// (`hardware/src/main/scala/rackwright/pagefault/README.md`).
const REMOTE: u64 = 1 << 8;

impl AddressSpace {
    /// The state that determines how loads and stores are translated.
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

    /// The state that determines how instructions are translated and decoded.
    pub(crate) fn fetch_key(&self, legal: Legal) -> FetchKey {
        FetchKey {
            satp: if self.translates(self.fetch) { self.satp } else { 0 },
            privilege: self.fetch,
            legal,
        }
    }

    /// Whether addresses of `privilege` go through page tables.
    fn translates(&self, privilege: Privilege) -> bool {
        self.tables(privilege).is_some()
    }

    /// The page tables that addresses of `privilege` go through.
    fn tables(&self, privilege: Privilege) -> Option<PageTables> {
        match privilege {
            Privilege::Machine => None,
            _ => PageTables::of(self.satp),
        }
    }

    /// The mode in which accesses for `purpose` are done.
    fn privilege(&self, purpose: Purpose) -> Privilege {
        match purpose {
            Purpose::Fetch => self.fetch,
            _ => self.data,
        }
    }

    /// The physical address of `address`, subject to the mode's permissions in `regions`; sets the accessed and dirty
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
        let Some(tables) = self.tables(privilege) else {
            let (physical, span) = (address, PAGE_BYTES);
            return Ok(Found { physical, span });
        };
        let fault = |cause| Exception {
            cause,
            value: address,
        };
        if !tables.is_canonical(address) {
            return Err(fault(purpose.page_fault()));
        }
        let walks = |purpose, place| regions.permit(Privilege::Supervisor, purpose, place);
        let walk = tables.walk(address, |place| match memory.word(place) {
            Ok(entry) if walks(Purpose::Load, place) => Ok(entry),
            _ => Err(fault(purpose.access_fault())),
        })?;
        let physical = walk.physical();
        let permitted = physical.filter(|_| self.permits(walk.entry, privilege, purpose));
        let physical = permitted.ok_or(fault(purpose.page_fault()))?;
        let marked = walk.entry.0 | marks(purpose);
        if marked != walk.entry.0 {
            let writable = walks(Purpose::Store, walk.place);
            if !writable || memory.store(walk.place, &marked.to_le_bytes()).is_err() {
                return Err(fault(purpose.access_fault()));
            }
        }
        let span = walk.span();
        Ok(Found { physical, span })
    }

    /// The place of the entry of `address` in a table of the lowest level, if it is that of a remote page.
    pub(crate) fn remote_entry(&self, memory: &GuestMemory, address: u64) -> Option<u64> {
        Some(remote(memory, PageTables::of(self.satp)?, address)?.place)
    }

    /// The same, if an access for `purpose` may use the page when it has arrived. Pages of instructions are not
    /// reported.
    pub(crate) fn remote_page(
        &self,
        memory: &GuestMemory,
        regions: &Regions,
        address: u64,
        purpose: Purpose,
    ) -> Option<u64> {
        let privilege = self.privilege(purpose);
        let Walk { entry, place, .. } = remote(memory, self.tables(privilege)?, address)?;
        let walks = regions.permit(Privilege::Supervisor, Purpose::Store, place);
        let usable = !entry.has(bit::EXECUTE) && self.permits(entry, privilege, purpose);
        (walks && usable).then_some(place)
    }

    fn permits(&self, entry: Entry, privilege: Privilege, purpose: Purpose) -> bool {
        let user_page = entry.has(bit::USER);
        let reachable = match privilege {
            Privilege::User => user_page,
            _ => !user_page || (self.user_memory && purpose != Purpose::Fetch),
        };
        let readable = match self.executable_readable {
            true => bit::READ | bit::EXECUTE,
            false => bit::READ,
        };
        reachable
            && entry.has(match purpose {
                Purpose::Fetch => bit::EXECUTE,
                Purpose::Load => readable,
                Purpose::Store => bit::WRITE,
            })
    }
}

/// The bits that an access for `purpose` sets in the entry of its page.
fn marks(purpose: Purpose) -> u64 {
    match purpose {
        Purpose::Store => bit::ACCESSED | bit::DIRTY,
        _ => bit::ACCESSED,
    }
}

/// The walk to the entry of a remote page.
fn remote(memory: &GuestMemory, tables: PageTables, address: u64) -> Option<Walk> {
    if !tables.is_canonical(address) {
        return None;
    }
    let walk = tables.walk(address, |place| memory.word(place)).ok()?;
    let remote = walk.entry.0 & (bit::VALID | bit::SOFTWARE) == REMOTE;
    (walk.level == 0 && remote).then_some(walk)
}

/// Whether all of the page at `physical` may be used for `purpose`.
pub(crate) fn allowed(memory: &GuestMemory, physical: u64, purpose: Purpose) -> bool {
    memory.protection(physical).allows(purpose.protection())
}
