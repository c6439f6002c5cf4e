//! A way between two sockets on which datagrams get lost, change their order, or come to an end all at once.

use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// After so long without a datagram those that wait for others to overtake them go on.
const QUIET: Duration = Duration::from_millis(5);

/// How many datagrams overtake one that waits, at most.
const OVERTAKING: u32 = 8;

/// What happens to datagrams, in each direction: shares from 0 to 1.
#[derive(Clone, Copy)]
pub struct Disturbance {
    pub lost: f64,
    pub overtaken: f64,
    pub seed: u64,
}

/// The way, for one sender, to an address and back.
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    lost: AtomicU64,
    is_dead: AtomicBool,
    stop: AtomicBool,
    sender: Mutex<Option<SocketAddr>>,
}

impl Relay {
    /// A way from a free address to `target`.
    pub fn start(target: SocketAddr, disturbance: Disturbance) -> Relay {
        Relay::at(super::loopback(), target, disturbance)
    }

    /// A way from `address` to `target`.
    pub fn at(address: SocketAddr, target: SocketAddr, disturbance: Disturbance) -> Relay {
        let front = UdpSocket::bind(address).unwrap();
        let back = UdpSocket::bind(super::loopback()).unwrap();
        back.connect(target).unwrap();
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(QUIET)).unwrap();
        }
        let shared = Arc::<Shared>::default();
        let address = front.local_addr().unwrap();
        let directions = [(&front, &back, true), (&back, &front, false)];
        let threads = directions.map(|(from, to, is_forth)| {
            let mut direction = Direction {
                from: from.try_clone().unwrap(),
                to: to.try_clone().unwrap(),
                is_forth,
                shared: shared.clone(),
                disturbance,
                random: disturbance.seed.wrapping_mul(2).wrapping_add(is_forth.into()),
                waiting: VecDeque::new(),
            };
            std::thread::spawn(move || direction.run())
        });
        Relay {
            address,
            shared,
            threads: threads.into(),
        }
    }

    /// Where it begins.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Datagrams lost so far.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// From now on everything is lost.
    pub fn die(&self) {
        self.shared.is_dead.store(true, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

struct Direction {
    from: UdpSocket,
    to: UdpSocket,
    is_forth: bool,
    shared: Arc<Shared>,
    disturbance: Disturbance,
    random: u64,
    /// Datagrams, and how many are still to overtake each.
    waiting: VecDeque<(u32, Vec<u8>)>,
}

impl Direction {
    fn run(&mut self) {
        let mut buffer = [0; 2048];
        while !self.shared.stop.load(Ordering::Relaxed) {
            // Nobody there, or nothing to read yet: then what waits goes on.
            match self.from.recv_from(&mut buffer) {
                Ok((length, sender)) => {
                    if self.is_forth {
                        *self.shared.sender.lock().unwrap() = Some(sender);
                    }
                    self.take(&buffer[..length]);
                }
                Err(_) => self.let_go(u32::MAX),
            }
        }
    }

    fn take(&mut self, datagram: &[u8]) {
        let is_dead = self.shared.is_dead.load(Ordering::Relaxed);
        if is_dead || self.happens(self.disturbance.lost) {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if self.happens(self.disturbance.overtaken) {
            let overtaking = 1 + (self.next() % OVERTAKING);
            self.waiting.push_back((overtaking, datagram.to_vec()));
            return;
        }
        self.send(datagram);
        self.let_go(1);
    }

    /// Lets those go that wait for no more than `overtaking` others.
    fn let_go(&mut self, overtaking: u32) {
        for (left, datagram) in std::mem::take(&mut self.waiting) {
            match left.saturating_sub(overtaking) {
                0 => self.send(&datagram),
                left => self.waiting.push_back((left, datagram)),
            }
        }
    }

    fn send(&self, datagram: &[u8]) {
        let sent = match self.is_forth {
            true => self.to.send(datagram),
            false => {
                let sender = self.shared.sender.lock().unwrap();
                self.to
                    .send_to(datagram, sender.expect("it was answered, so it was asked"))
            }
        };
        if sent.is_err() {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn happens(&mut self, share: f64) -> bool {
        f64::from(self.next()) < share * f64::from(1_u32 << 31)
    }

    /// 31 bits.
    fn next(&mut self) -> u32 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as u32
    }
}
