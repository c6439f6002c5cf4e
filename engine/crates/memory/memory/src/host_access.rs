use crate::guest::GuestMemory;

/// Access to a guest's memory by host addresses: who uses it checks addresses and protection, as a hart's translation
/// buffer does, and announces what it writes.
pub struct HostAccess<'a> {
    pub(crate) memory: &'a mut GuestMemory,
}

impl HostAccess<'_> {
    /// The host address of the byte at address 0. Valid as long as the memory.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.memory.region.start()
    }

    /// Announces writes: from now on, pages of a range in memory may have any contents.
    #[inline]
    pub fn touch(&mut self, address: u64, length: u64) {
        self.memory.touch(address, length);
    }

    /// The same for callers that cannot call that function: a byte for each page, which must be set to 1 before a write
    /// to the page.
    #[inline]
    pub fn touched_base(&mut self) -> *mut u8 {
        self.memory.touched.as_mut_ptr()
    }
}
