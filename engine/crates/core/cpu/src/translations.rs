//! Cached translations, separate for each context: the translations of an address space, privilege and permission
//! remain when the hart leaves it and returns.

use crate::address::{AddressSpace, Found, Privilege};
use crate::control::Legal;
use rackwright_memory::PAGE_BYTES;

const ENTRIES: usize = 512;
/// No address, however masked, equals this.
const EMPTY: u64 = u64::MAX;
/// Maximum number of contexts; the oldest is replaced by a new one.
const CONTEXTS: usize = 16;

#[derive(Clone, Copy)]
struct Translation {
    page: u64,
    /// The difference between a virtual address and the other one.
    offset: u64,
}

const NOTHING: Translation = Translation {
    page: EMPTY,
    offset: 0,
};

/// A direct-mapped buffer of translations for one purpose.
pub(crate) struct Translations([Translation; ENTRIES]);

impl Default for Translations {
    fn default() -> Translations {
        Translations([NOTHING; ENTRIES])
    }
}

impl Translations {
    #[inline(always)]
    fn slot(address: u64) -> usize {
        (address / PAGE_BYTES) as usize % ENTRIES
    }

    /// The address of the aligned `bytes` bytes at `address`, if the translation is cached.
    #[inline(always)]
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<u64> {
        let found = &self.0[Self::slot(address)];
        if found.page == address & (!(PAGE_BYTES - 1) | (bytes - 1)) {
            Some(address.wrapping_add(found.offset))
        } else {
            None
        }
    }

    /// Caches the translation of the page of `address` to the page of `place`, the translation of `address`.
    fn remember(&mut self, address: u64, place: u64) {
        self.0[Self::slot(address)] = Translation {
            page: address & !(PAGE_BYTES - 1),
            offset: place.wrapping_sub(address),
        };
    }

    fn forget(&mut self, address: u64) {
        let found = &mut self.0[Self::slot(address)];
        if found.page == address & !(PAGE_BYTES - 1) {
            *found = NOTHING;
        }
    }

    fn clear(&mut self) {
        self.0.fill(NOTHING);
    }
}

/// A set of numbers that may falsely report that it has a number, but never that it does not.
#[derive(Default)]
struct Filter([u64; 16]);

impl Filter {
    fn place(number: u64) -> (usize, u64) {
        let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        (hash as usize / 64, 1 << (hash % 64))
    }

    fn insert(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.0[word] |= bit;
    }

    fn may_hold(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.0[word] & bit != 0
    }
}

/// The large pages in a context's cache: a fence for one address concerns all of such a page.
#[derive(Default)]
struct LargePages(Filter);

impl LargePages {
    /// Sizes of large pages in Sv39 and Sv48, as powers of two.
    const SIZES: [u32; 3] = [21, 30, 39];

    fn insert(&mut self, address: u64, span: u64) {
        if span > PAGE_BYTES {
            self.0.insert(Self::number(address, span.trailing_zeros()));
        }
    }

    fn may_hold(&self, address: u64) -> bool {
        Self::SIZES
            .iter()
            .any(|size| self.0.may_hold(Self::number(address, *size)))
    }

    fn number(address: u64, size: u32) -> u64 {
        address >> size << 8 | u64::from(size)
    }
}

/// Which translations an `sfence.vma` concerns.
#[derive(Clone, Copy)]
pub(crate) struct Fenced {
    pub(crate) address: Option<u64>,
    pub(crate) address_space: Option<u64>,
}

impl Fenced {
    fn concerns(&self, satp: u64) -> bool {
        satp != 0
            && self
                .address_space
                .is_none_or(|space| space == satp >> 44 & 0xffff)
    }
}

/// The state that determines how loads and stores are translated. Without translation, all fields are zero.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DataKey {
    pub(crate) satp: u64,
    pub(crate) privilege: Privilege,
    pub(crate) user_memory: bool,
    pub(crate) executable_readable: bool,
}

/// Translations of loads and stores to places on the host.
#[derive(Default)]
pub(crate) struct DataContext {
    key: DataKey,
    pub(crate) loads: Translations,
    pub(crate) stores: Translations,
    large: LargePages,
    used: bool,
}

impl DataContext {
    pub(crate) fn remember(&mut self, store: bool, address: u64, host: *mut u8, span: u64) {
        let buffer = if store { &mut self.stores } else { &mut self.loads };
        buffer.remember(address, host as u64);
        self.large.insert(address, span);
        self.used = true;
    }

    fn clear(&mut self) {
        if self.used {
            self.loads.clear();
            self.stores.clear();
            self.large = LargePages::default();
            self.used = false;
        }
    }

    fn fence(&mut self, fenced: Fenced) {
        match fenced.address.filter(|address| !self.large.may_hold(*address)) {
            Some(address) => {
                self.loads.forget(address);
                self.stores.forget(address);
            }
            None => self.clear(),
        }
    }
}

/// The state that determines how instructions are translated and decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchKey {
    /// Zero without translation.
    pub(crate) satp: u64,
    pub(crate) privilege: Privilege,
    /// Which instructions are legal.
    pub(crate) legal: Legal,
}

/// Translations of instructions to physical addresses, and the stamp under which exits from one page to another are
/// valid.
pub(crate) struct FetchContext {
    key: FetchKey,
    pages: Translations,
    /// Every page that was looked up since the stamp was set.
    looked_up: Filter,
    large: LargePages,
    stamp: u64,
    generation: u64,
}

impl FetchContext {
    fn new(key: FetchKey) -> FetchContext {
        FetchContext {
            key,
            pages: Translations::default(),
            looked_up: Filter::default(),
            large: LargePages::default(),
            stamp: 0,
            generation: 0,
        }
    }

    fn clear(&mut self) {
        self.pages.clear();
        self.looked_up = Filter::default();
        self.large = LargePages::default();
        self.stamp = 0;
    }

    fn fence(&mut self, fenced: Fenced) {
        match fenced.address.filter(|address| !self.large.may_hold(*address)) {
            Some(address) => {
                // A page that was not looked up since may still be cached from before.
                self.pages.forget(address);
                if self.looked_up.may_hold(address / PAGE_BYTES) {
                    self.looked_up = Filter::default();
                    self.stamp = 0;
                }
            }
            None => self.clear(),
        }
    }

    /// The physical address of `address`, if that is remembered.
    pub(crate) fn find(&mut self, address: u64) -> Option<u64> {
        self.looked_up.insert(address / PAGE_BYTES);
        self.pages.find(address, 1)
    }

    pub(crate) fn remember(&mut self, address: u64, found: &Found) {
        self.pages.remember(address, found.physical);
        self.large.insert(address, found.span);
    }
}

/// All contexts of a hart. The ones in use are reached by pointers, which stay valid as long as this lives.
pub(crate) struct Contexts {
    data: Vec<Box<DataContext>>,
    fetch: Vec<Box<FetchContext>>,
    oldest: [usize; 2],
    /// Changes with every fence of instructions.
    generation: u64,
    last_stamp: u64,
}

impl Contexts {
    pub(crate) fn new() -> Contexts {
        Contexts {
            data: Vec::new(),
            fetch: Vec::new(),
            oldest: [0; 2],
            generation: 1,
            last_stamp: 1,
        }
    }

    /// The context of loads and stores in `space`.
    pub(crate) fn data(&mut self, space: &AddressSpace) -> *mut DataContext {
        let key = space.data_key();
        let known = self.data.iter().position(|context| context.key == key);
        let index = known.unwrap_or_else(|| {
            let index = room(&mut self.data, &mut self.oldest[0], Box::default);
            self.data[index].clear();
            self.data[index].key = key;
            index
        });
        &mut *self.data[index]
    }

    /// The context of instructions in `space`, with a stamp that holds.
    pub(crate) fn fetch(&mut self, space: &AddressSpace, legal: Legal) -> *mut FetchContext {
        let key = space.fetch_key(legal);
        let known = self.fetch.iter().position(|context| context.key == key);
        let index = known.unwrap_or_else(|| {
            let index = room(&mut self.fetch, &mut self.oldest[1], || {
                Box::new(FetchContext::new(key))
            });
            self.fetch[index].clear();
            self.fetch[index].key = key;
            index
        });
        let context = &mut *self.fetch[index];
        if context.stamp == 0 || context.generation != self.generation {
            self.last_stamp += 1;
            context.stamp = self.last_stamp;
            context.generation = self.generation;
        }
        context
    }

    /// The stamps under which an exit within a page, and one from page to page, are valid.
    pub(crate) fn stamps(&self, fetch: *const FetchContext) -> [u64; 2] {
        // SAFETY: the caller got it from `fetch`.
        [unsafe { (*fetch).stamp }, self.generation]
    }

    /// Invalidates all exits from code to code: code may have changed.
    pub(crate) fn fence_instructions(&mut self) {
        self.last_stamp += 1;
        self.generation = self.last_stamp;
    }

    /// Forgets the translations that an `sfence.vma` concerns.
    pub(crate) fn fence(&mut self, fenced: Fenced) {
        let data = self
            .data
            .iter_mut()
            .filter(|context| fenced.concerns(context.key.satp));
        data.for_each(|context| context.fence(fenced));
        let fetch = self
            .fetch
            .iter_mut()
            .filter(|context| fenced.concerns(context.key.satp));
        fetch.for_each(|context| context.fence(fenced));
    }

    /// Drops all translations of loads and stores.
    pub(crate) fn clear_data(&mut self) {
        self.data.iter_mut().for_each(|context| context.clear());
    }

    /// Drops all translations of instructions.
    pub(crate) fn clear_fetch(&mut self) {
        self.fetch.iter_mut().for_each(|context| context.clear());
    }
}

/// The index of a new context, or of the one that it replaces.
fn room<C>(contexts: &mut Vec<C>, oldest: &mut usize, make: impl FnOnce() -> C) -> usize {
    if contexts.len() < CONTEXTS {
        contexts.push(make());
        return contexts.len() - 1;
    }
    *oldest = (*oldest + 1) % CONTEXTS;
    *oldest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(number: u64) -> AddressSpace {
        AddressSpace {
            satp: 8 << 60 | number << 44,
            fetch: Privilege::User,
            data: Privilege::User,
            ..AddressSpace::default()
        }
    }

    const LEGAL: Legal = Legal {
        float: true,
        vector: false,
    };

    const ALL: Fenced = Fenced {
        address: None,
        address_space: None,
    };

    fn load(context: *mut DataContext, address: u64) -> Option<u64> {
        // SAFETY: the contexts it came from live.
        unsafe { (*context).loads.find(address, 8) }
    }

    fn remember(context: *mut DataContext, address: u64, span: u64) {
        // SAFETY: as above.
        unsafe { (*context).remember(false, address, (address + 0x10_0000) as *mut u8, span) }
    }

    #[test]
    fn address_spaces_keep_what_they_know() {
        let mut contexts = Contexts::new();
        let first = contexts.data(&space(1));
        remember(first, 0x5000, PAGE_BYTES);
        let second = contexts.data(&space(2));
        assert_eq!(load(second, 0x5008), None);
        assert_eq!(load(contexts.data(&space(1)), 0x5008), Some(0x10_5008));
        let fenced = |address, address_space| Fenced {
            address,
            address_space,
        };
        contexts.fence(fenced(None, Some(2)));
        contexts.fence(fenced(Some(0x6000), None));
        assert_eq!(load(first, 0x5008), Some(0x10_5008));
        contexts.fence(fenced(Some(0x5abc), Some(1)));
        assert_eq!(load(first, 0x5008), None);
    }

    #[test]
    fn a_fence_for_one_address_of_a_large_page_concerns_all_of_it() {
        let mut contexts = Contexts::new();
        let context = contexts.data(&space(1));
        remember(context, 0x20_5000, 1 << 21);
        contexts.fence(Fenced {
            address: Some(0x20_0000),
            address_space: None,
        });
        assert_eq!(load(context, 0x20_5000), None);
    }

    #[test]
    fn stamps_change_with_what_was_looked_up_and_come_back_with_a_context() {
        let mut contexts = Contexts::new();
        let stamp = |contexts: &mut Contexts, number| {
            let context = contexts.fetch(&space(number), LEGAL);
            contexts.stamps(context)[0]
        };
        let first = stamp(&mut contexts, 1);
        assert_ne!(stamp(&mut contexts, 2), first);
        assert_eq!(stamp(&mut contexts, 1), first);
        // SAFETY: the contexts live.
        unsafe { (*contexts.fetch(&space(1), LEGAL)).find(0x7000) };
        let fenced = |address| Fenced {
            address: Some(address),
            address_space: None,
        };
        contexts.fence(fenced(0x8000));
        assert_eq!(stamp(&mut contexts, 1), first);
        contexts.fence(fenced(0x7000));
        let second = stamp(&mut contexts, 1);
        assert_ne!(second, first);
        contexts.fence_instructions();
        let third = stamp(&mut contexts, 1);
        assert!(third != second && third != first);
        contexts.fence(ALL);
        assert_ne!(stamp(&mut contexts, 1), third);
    }

    #[test]
    fn a_second_fence_forgets_what_was_not_looked_up_after_the_first() {
        let mut contexts = Contexts::new();
        let context = contexts.fetch(&space(1), LEGAL);
        for page in [0x5000, 0x6000] {
            let found = Found {
                physical: page + 0x10_0000,
                span: PAGE_BYTES,
            };
            // SAFETY: the contexts live.
            unsafe { (*context).find(page) };
            unsafe { (*context).remember(page, &found) };
        }
        for page in [0x5000, 0x6000] {
            contexts.fence(Fenced {
                address: Some(page),
                address_space: None,
            });
        }
        // SAFETY: as above.
        assert_eq!(unsafe { (*context).find(0x6000) }, None);
    }

    #[test]
    fn the_oldest_context_gives_way_empty() {
        let mut contexts = Contexts::new();
        for number in 0..40 {
            let context = contexts.data(&space(number));
            assert_eq!(load(context, 0x5000), None, "{number}");
            remember(context, 0x5000, PAGE_BYTES);
        }
        assert_eq!(contexts.data.len(), CONTEXTS);
    }
}
