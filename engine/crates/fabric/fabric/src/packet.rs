use crate::class::Class;
use crate::credits::Amount;
use serde::{Deserialize, Serialize};

/// Bus, device and function, as packets carry them (2.2.4.2).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Id(pub u16);

impl Id {
    /// The function 0 of a device.
    pub fn new(bus: u8, device: u8) -> Id {
        Id(u16::from(bus) << 8 | u16::from(device) << 3)
    }

    /// A function of a device.
    pub fn of(bus: u8, device: u8, function: u8) -> Id {
        Id(Id::new(bus, device).0 | u16::from(function))
    }

    /// Its number in the device.
    pub fn function(self) -> u8 {
        (self.0 & 7) as u8
    }

    /// The device.
    pub fn device(self) -> u8 {
        (self.0 >> 3 & 31) as u8
    }

    /// The bus.
    pub fn bus(self) -> u8 {
        (self.0 >> 8) as u8
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02x}:{:02x}.{}", self.bus(), self.device(), self.function())
    }
}

/// The kind of a packet (2.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// A read of memory.
    MemoryRead,
    /// A write of memory.
    MemoryWrite,
    /// A configuration read, of type 1 or 0: whether it still has to reach the bus of its target.
    ConfigurationRead(bool),
    /// A write of configuration.
    ConfigurationWrite(bool),
    /// An atomic operation: adds.
    FetchAdd,
    /// Exchanges.
    Swap,
    /// Compares, and exchanges.
    CompareSwap,
    /// A message with its routing, 0 to 5, and whether it has data.
    Message(u8, bool),
    /// A completion, and whether it has data.
    Completion(bool),
}

impl Kind {
    /// The class of flow control.
    pub fn class(self) -> Class {
        match self {
            Kind::MemoryWrite | Kind::Message(..) => Class::Posted,
            Kind::Completion(_) => Class::Completion,
            _ => Class::NonPosted,
        }
    }

    /// Whether it is a request to memory.
    pub fn is_memory(self) -> bool {
        use Kind::{CompareSwap, FetchAdd, MemoryRead, MemoryWrite, Swap};
        matches!(self, MemoryRead | MemoryWrite | FetchAdd | Swap | CompareSwap)
    }

    /// Whether it carries a payload.
    pub fn has_data(self) -> bool {
        use Kind::{CompareSwap, Completion, ConfigurationWrite, FetchAdd, MemoryWrite, Message, Swap};
        match self {
            MemoryWrite | ConfigurationWrite(_) | FetchAdd | Swap | CompareSwap => true,
            Message(_, data) | Completion(data) => data,
            _ => false,
        }
    }
}

/// The fields of requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Which bytes of the first and of the last word are meant, a bit each; of messages together their code.
    pub enables: u8,
    /// The address, a multiple of 4; of configuration, the number of the word times 4; of messages, their last eight bytes.
    pub address: u64,
    /// The target of a configuration request.
    pub target: Id,
}

/// The status of a completion (2.2.9.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub enum Status {
    /// As asked for.
    #[default]
    Successful,
    /// The request has no target.
    Unsupported,
    /// The configuration request must be repeated.
    Retry,
    /// The completer has failed.
    Aborted,
}

/// The fields of completions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Completion {
    /// Who completes.
    pub completer: Id,
    /// How it ended.
    pub status: Status,
    /// Number of remaining bytes, including those of this packet: 1 to 4096.
    pub byte_count: u16,
    /// The low seven bits of the address of the first byte.
    pub lower_address: u8,
}

/// The header of a packet of the transaction layer, as fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// Traffic class, 0 to 7.
    pub traffic_class: u8,
    /// Ordering by identity, relaxed ordering, no snooping: bits 2 to 0.
    pub attributes: u8,
    /// Whether the data is known to be wrong.
    pub poisoned: bool,
    /// Words of the payload, or that are read: 1 to 1024; 0 for a packet that has none.
    pub words: u16,
    /// Who asked.
    pub requester: Id,
    /// By which number it knows the request: ten bits.
    pub tag: u16,
    /// The rest of a request.
    pub request: Request,
    /// The rest of a completion.
    pub completion: Completion,
}

/// Words of the longest payload.
const WORDS_MOST: u16 = 1024;

impl Header {
    /// One of a kind, with no more in it.
    pub fn new(kind: Kind, requester: Id, tag: u16) -> Header {
        Header {
            kind,
            traffic_class: 0,
            attributes: 0,
            poisoned: false,
            words: 0,
            requester,
            tag,
            request: Request::default(),
            completion: Completion::default(),
        }
    }

    /// Words of the header: four for addresses that need 64 bits, and for messages.
    pub fn header_words(&self) -> usize {
        match self.kind {
            Kind::Message(..) => 4,
            Kind::Completion(_) | Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => 3,
            _ => 3 + usize::from(self.request.address >> 32 != 0),
        }
    }

    /// Words of the payload.
    pub fn payload_words(&self) -> usize {
        if self.kind.has_data() {
            usize::from(self.words)
        } else {
            0
        }
    }

    /// Bytes of the packet in the transaction layer.
    pub fn bytes(&self) -> usize {
        4 * (self.header_words() + self.payload_words())
    }

    /// Its cost for the receiver: a header, and data in units of 16 bytes (2.6.1).
    pub fn cost(&self) -> Amount {
        Amount {
            headers: 1,
            data: self.payload_words().div_ceil(4) as u64,
        }
    }

    /// A request for whole words of memory, with its other fields.
    pub fn memory(kind: Kind, requester: Id, tag: u16, address: u64, words: u16) -> Header {
        debug_assert!((1..=WORDS_MOST).contains(&words), "a request of {words} words");
        let mut header = Header::new(kind, requester, tag);
        header.words = words;
        header.request.address = address;
        header.request.enables = if words == 1 { 0x0f } else { 0xff };
        header
    }

    /// A completion of a request, without data.
    pub fn completing(request: &Header, completer: Id, status: Status) -> Header {
        let mut header = Header::new(Kind::Completion(false), request.requester, request.tag);
        header.traffic_class = request.traffic_class;
        header.attributes = request.attributes;
        header.completion = Completion {
            completer,
            status,
            byte_count: 4,
            lower_address: 0,
        };
        header
    }

    /// Whether a completion may pass earlier posted packets (2.4.1).
    pub fn is_relaxed(&self) -> bool {
        self.attributes & 2 != 0
    }
}
