use crate::protocol::WORK_BYTES;
use crate::LoadError;
use rackwright_datagram::{Inbox, Options, Outbox, Socket};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time in which a stopped service ends.
const NOTICE: Duration = Duration::from_millis(50);

/// Services that take the requested time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServicePlan {
    /// Their addresses: one service each, with a queue of its own.
    pub addresses: Vec<SocketAddr>,
    /// Number of requests that each processes concurrently.
    pub cores: usize,
    /// Whether they keep a processor busy while they work. Otherwise they sleep, so that more of them than
    /// there are processors can be had.
    pub spin: bool,
    /// Bytes before each request that do not belong to it, and are returned unchanged: a shim header.
    pub header_bytes: usize,
}

/// Services that are at work until this is dropped.
pub struct Service {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<io::Result<()>>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    answered: AtomicU64,
    malformed: AtomicU64,
}

impl Service {
    /// Services that listen from now on.
    ///
    /// # Errors
    /// [`LoadError`] when an address cannot be listened at.
    pub fn start(plan: &ServicePlan) -> Result<Service, LoadError> {
        if plan.addresses.is_empty() || plan.cores == 0 {
            return Err(LoadError::NoTarget);
        }
        let mut service = Service {
            addresses: Vec::new(),
            shared: Arc::default(),
            workers: Vec::new(),
        };
        for address in &plan.addresses {
            let socket = listen(*address).map_err(|error| LoadError::Socket {
                address: *address,
                error,
            })?;
            service.addresses.push(socket.local_address()?);
            let socket = Arc::new(socket);
            for _ in 0..plan.cores {
                let mut worker = Worker {
                    socket: socket.clone(),
                    shared: service.shared.clone(),
                    header: plan.header_bytes,
                    spin: plan.spin,
                };
                service.workers.push(std::thread::spawn(move || worker.run()));
            }
        }
        Ok(service)
    }

    /// Where they listen.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Requests answered so far.
    pub fn answered(&self) -> u64 {
        self.shared.answered.load(Ordering::Relaxed)
    }

    /// Datagrams so far that are no requests.
    pub fn malformed(&self) -> u64 {
        self.shared.malformed.load(Ordering::Relaxed)
    }

    /// Whether all workers are still at work.
    pub fn is_well(&self) -> bool {
        self.workers.iter().all(|worker| !worker.is_finished())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for worker in self.workers.drain(..) {
            // Its errors were reported by `is_well`.
            let _ = worker.join();
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<Socket> {
    let options = Options {
        nonblocking: false,
        // Cores that share a socket take one request each.
        joins: false,
        ..Options::default()
    };
    let socket = Socket::bind(address, options)?;
    socket.set_receive_timeout(Some(NOTICE))?;
    Ok(socket)
}

/// One core. Its requests wait in the socket, which the cores of a service share.
struct Worker {
    socket: Arc<Socket>,
    shared: Arc<Shared>,
    header: usize,
    spin: bool,
}

impl Worker {
    fn run(&mut self) -> io::Result<()> {
        rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
        let mut inbox = Inbox::new(1);
        let mut outbox = Outbox::new();
        // Until when this core is busy. It is a plan: sleeping too long delays nothing that follows.
        let mut busy_until = Instant::now();
        while !self.shared.stop.load(Ordering::Relaxed) {
            let was_waiting = inbox.try_receive(&self.socket)? > 0;
            if !was_waiting && inbox.receive(&self.socket)? == 0 {
                continue;
            }
            for datagram in inbox.datagrams() {
                let Some(work) = self.work_of(datagram.bytes) else {
                    self.shared.malformed.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                if !was_waiting {
                    busy_until = Instant::now();
                }
                busy_until += work;
                self.pass_time(busy_until);
                outbox.push(Some(datagram.from), &[datagram.bytes]);
                self.shared.answered.fetch_add(1, Ordering::Relaxed);
            }
            outbox.flush(&self.socket)?;
        }
        Ok(())
    }

    fn work_of(&self, datagram: &[u8]) -> Option<Duration> {
        let request = datagram.get(self.header..)?;
        let work = request.get(8..WORK_BYTES)?;
        let ns = u32::from_be_bytes(work.try_into().expect("these are four bytes"));
        Some(Duration::from_nanos(ns.into()))
    }

    fn pass_time(&self, until: Instant) {
        if self.spin {
            while Instant::now() < until {
                std::hint::spin_loop();
            }
        } else if let Some(left) = until.checked_duration_since(Instant::now()) {
            std::thread::sleep(left);
        }
    }
}
