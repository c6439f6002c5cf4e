use crate::message::{Message, Operation, Status, PAGE_BYTES};
use rackwright_ethernet::Mac;
use rackwright_stats::{ContentHash, ContentSum};
use std::collections::BTreeMap;

struct Page {
    version: u16,
    data: Box<[u8; PAGE_BYTES]>,
}

/// The pages of all clients, and the rules by which they change.
///
/// A store takes effect only if its version is newer than the existing one, so that a late duplicate changes nothing.
/// Versions are compared as serial numbers (RFC 1982): they may run over.
pub struct Pages {
    pages: BTreeMap<(Mac, u64), Page>,
    capacity: usize,
    incarnation: u8,
}

impl Pages {
    /// Room for `capacity` pages.
    pub fn new(capacity: usize) -> Pages {
        Pages {
            pages: BTreeMap::new(),
            capacity,
            incarnation: 0,
        }
    }

    /// Drops all pages, as at a start.
    pub fn restart(&mut self) {
        self.pages.clear();
        self.incarnation = self.incarnation.wrapping_add(1);
    }

    /// Number of pages.
    pub fn count(&self) -> usize {
        self.pages.len()
    }

    /// The hash of their contents.
    pub fn contents(&self) -> ContentSum {
        let mut sum = ContentSum::default();
        for ((client, number), page) in &self.pages {
            let place = u128::from(client.bits()) << 64 | u128::from(*number);
            sum.add(place, ContentHash::of(&page.data[..]));
        }
        sum
    }

    /// Executes a request of `client`; returns the response, or none if it is not a request.
    pub fn serve(&mut self, client: Mac, request: &Message) -> Option<Message> {
        let (operation, version, status, data) = match (request.operation, &request.data) {
            (Operation::Fetch, None) => {
                let (status, version, data) = self.fetch(client, request);
                (Operation::Fetched, version, status, data)
            }
            (Operation::Store, Some(data)) => {
                let status = self.store(client, request, data);
                (Operation::Stored, request.version, status, None)
            }
            _ => return None,
        };
        Some(Message {
            operation,
            status,
            incarnation: self.incarnation,
            tag: request.tag,
            page: request.page,
            version,
            data,
        })
    }

    fn fetch(&self, client: Mac, request: &Message) -> (Status, u16, Option<Box<[u8; PAGE_BYTES]>>) {
        match self.pages.get(&(client, request.page)) {
            None => (Status::Unknown, request.version, None),
            Some(page) if newer(request.version, page.version) => (Status::Older, page.version, None),
            Some(page) => (Status::Done, page.version, Some(page.data.clone())),
        }
    }

    fn store(&mut self, client: Mac, request: &Message, data: &[u8; PAGE_BYTES]) -> Status {
        let key = (client, request.page);
        let full = self.pages.len() >= self.capacity;
        match self.pages.get_mut(&key) {
            Some(page) if newer(request.version, page.version) => {
                page.version = request.version;
                page.data.copy_from_slice(data);
            }
            Some(_) => {}
            None if full => return Status::Full,
            None => {
                let page = Page {
                    version: request.version,
                    data: Box::new(*data),
                };
                self.pages.insert(key, page);
            }
        }
        Status::Done
    }
}

/// Whether version `one` is newer than `other`.
fn newer(one: u16, other: u16) -> bool {
    (one.wrapping_sub(other) as i16) > 0
}
