use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Counters of datagrams, in addition to the dispatcher's decisions.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
        pub struct DatagramCounts {
            $($(#[doc = $doc])* pub $name: u64,)*
        }

        /// The same while threads count.
        #[derive(Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        impl Counters {
            pub(crate) fn read(&self) -> DatagramCounts {
                DatagramCounts { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Datagrams received, from any sender.
    received,
    /// Datagrams that the kernel took to send.
    sent,
    /// Datagrams that the kernel did not take: no room, no route.
    not_sent,
    /// Datagrams from clients that are no requests of the service.
    malformed_requests,
    /// Datagrams from replicas that are no answers.
    malformed_answers,
    /// Responses of replicas and dispatchers to requests that are not outstanding.
    late_answers,
    /// Answers brought back to clients, or to the dispatchers that had redirected the requests.
    answers,
    /// Datagrams to the address of dispatchers that are no messages of any.
    malformed_messages,
    /// Messages of dispatchers without the right key, or from no peer's address.
    strangers,
    /// Forwarded requests without a response in time.
    expired,
    /// Requests dropped because too many were outstanding at one replica.
    overflows,
    /// Refusals by a replica's machine, where no program listens.
    refused,
    /// Frames of AF_XDP received with a datagram each, which `received` counts too.
    frames_received,
    /// Frames of AF_XDP sent with a datagram each, which `sent` counts too.
    frames_sent,
    /// Frames of AF_XDP with a wrong checksum or length.
    malformed_frames,
    /// Frames of AF_XDP from senders other than the replica of their address, or for one that has just been removed.
    stray_frames,
    /// Messages about decisions that could not be executed any more: a replica or peer was just removed.
    undelivered,
}

/// One count.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub(crate) fn add(&self, count: u64) {
        if count > 0 {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
    }
}
