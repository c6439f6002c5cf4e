use crate::beat::{masked, store};
use rackwright_memory::GuestMemory;
use rackwright_rtl::{MemoryRequest, BEAT_BYTES};
use rackwright_time::unit::Cycle;
use std::collections::BTreeMap;

/// Tags of a port, at most.
const TAGS: usize = 256;

/// Blocks of memory that are told apart, each as large as the largest beat, so that each beat is in one.
const BLOCKS: usize = 1024;

/// The rules of memory ports at their limits: they do not affect a unit that obeys them.
///
/// Writes become visible in the cycles of their responses, as late as a memory may make them visible; this detects a
/// unit that reports completion before its writes have responses. Of two outstanding writes to a byte, the one
/// requested first is performed last, and a read during a write returns data that were never there.
pub(crate) struct MemoryRules {
    /// Outstanding requests, by the cycle of the response and the order of requests.
    waiting: BTreeMap<(Cycle, u64), (MemoryRequest, usize)>,
    asked: u64,
    /// How many writes wait in each block, or in one that has the same number: of most blocks there are none.
    blocks: Box<[u32; BLOCKS]>,
    /// The cycle until which each tag of each port is in use; none for a port whose tags are not the unit's.
    tags: Vec<Option<Box<[Cycle; TAGS]>>>,
    names: Vec<String>,
}

impl MemoryRules {
    /// The rules for ports with these names, with or without tags, and without requests so far.
    pub(crate) fn new(ports: impl Iterator<Item = (String, bool)>) -> MemoryRules {
        let tags = |has_tags: bool| has_tags.then(|| Box::new([Cycle::ZERO; TAGS]));
        let (names, tags) = ports.map(|(name, has_tags)| (name, tags(has_tags))).unzip();
        MemoryRules {
            waiting: BTreeMap::new(),
            asked: 0,
            blocks: Box::new([0; BLOCKS]),
            tags,
            names,
        }
    }

    /// Records a request through a port of `bytes` bytes whose response is in the cycle `due`, or, if there is none, at
    /// the time of [`MemoryRules::answer`].
    ///
    /// # Errors
    /// A text when it is against a rule.
    pub(crate) fn ask(
        &mut self,
        request: &MemoryRequest,
        bytes: usize,
        due: Option<Cycle>,
    ) -> Result<(), String> {
        let port = usize::from(request.port);
        let name = &self.names[port];
        if request.address % bytes as u64 != 0 {
            let address = request.address;
            return Err(format!(
                "it asks through `{name}` for {address:#x}, no multiple of {bytes}"
            ));
        }
        let Some(tags) = &mut self.tags[port] else {
            return Ok(());
        };
        let tag = usize::from(request.tag) % TAGS;
        if request.cycle < tags[tag] {
            return Err(format!(
                "it asks through `{name}` with tag {tag}, which has not been answered"
            ));
        }
        tags[tag] = due.unwrap_or(Cycle::NEVER);
        Ok(())
    }

    /// A watch that has waited is answered in the cycle `due`.
    pub(crate) fn answer(&mut self, request: &MemoryRequest, due: Cycle) {
        if let Some(tags) = &mut self.tags[usize::from(request.port)] {
            tags[usize::from(request.tag) % TAGS] = due;
        }
    }

    /// Changes the bytes of a read of `data` that are being written.
    pub(crate) fn read(&self, request: &MemoryRequest, data: &mut [u8]) {
        let written = self.under_way(request.address);
        for (index, byte) in data.iter_mut().enumerate() {
            if written >> index & 1 != 0 {
                *byte = !*byte;
            }
        }
    }

    /// Takes a write that is allowed.
    pub(crate) fn write(&mut self, request: &MemoryRequest, bytes: usize, due: Cycle) {
        let mask = request.mask & !self.under_way(request.address);
        let request = MemoryRequest { mask, ..*request };
        self.waiting.insert((due, self.asked), (request, bytes));
        self.blocks[block_of(request.address)] += 1;
        self.asked += 1;
    }

    /// Performs the accesses with responses in the cycle `now` or before.
    pub(crate) fn settle(&mut self, now: Cycle, memory: &mut GuestMemory) {
        while let Some(first) = self.waiting.first_entry() {
            if first.key().0 > now {
                return;
            }
            let (request, bytes) = first.remove();
            self.blocks[block_of(request.address)] -= 1;
            store(&request, bytes, memory);
        }
    }

    /// Which of the bytes from `address` on are being written, as a mask.
    fn under_way(&self, address: u64) -> u32 {
        if self.blocks[block_of(address)] == 0 {
            return 0;
        }
        let masks = self.waiting.values().map(|(earlier, bytes)| {
            let mask = masked(earlier, *bytes);
            match earlier.address.wrapping_sub(address) as i64 {
                ahead @ 0..=31 => mask << ahead,
                behind @ -31..=-1 => mask >> -behind,
                _ => 0,
            }
        });
        masks.fold(0, |all, mask| all | mask)
    }
}

/// The number of the block that a beat is in.
fn block_of(address: u64) -> usize {
    address as usize / BEAT_BYTES % BLOCKS
}
