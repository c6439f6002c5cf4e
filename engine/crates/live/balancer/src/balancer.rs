use crate::core::Core;
use crate::counters::Counters;
use crate::frames::Frames;
use crate::lanes::Lanes;
use crate::shared::{Change, Member, Shared};
use crate::worker::Worker;
use crate::{BalancerError, ReplicaSettings, ServiceSettings, Settings, Status};
use rackwright_datagram::{Options, Socket, Waker};
use rackwright_dispatch::wire::Key;
use rackwright_dispatch::{ReplicaId, ReplicaSpec};
use rackwright_xdp::Queue;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum number of replicas over the life of a balancer.
const MOST_REPLICAS: usize = 65_000;

/// Interval of checks while a balancer drains.
const DRAIN_LOOK: Duration = Duration::from_millis(1);

/// A dispatcher on real sockets, at work until it is stopped or dropped.
pub struct Balancer {
    shared: Arc<Shared>,
    /// The current services.
    services: Vec<ServiceSettings>,
    wakers: Vec<Waker>,
    threads: Vec<JoinHandle<std::io::Result<()>>>,
}

/// The sockets that threads share by address: for each thread, those of the services and that of peers.
type ThreadSockets = (Vec<Socket>, Option<Socket>);

impl Balancer {
    /// Listens and begins.
    ///
    /// # Errors
    /// [`BalancerError`].
    pub fn start(mut settings: Settings) -> Result<Balancer, BalancerError> {
        settings.check()?;
        let core = Core::new(&settings)?;
        let sockets = listen(&mut settings)?;
        let (frames, queues) = Frames::new(&settings)?;
        let key = Key::new(&settings.key.unwrap_or_default());
        let members = members(&settings.services);
        let services = settings.services.clone();
        let shared = Arc::new(Shared {
            settings,
            key,
            core: Mutex::new(core),
            counters: Counters::default(),
            frames,
            replicas: RwLock::new(members),
            changes: Mutex::default(),
            start: Instant::now(),
            draining: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            drained: AtomicUsize::new(0),
        });
        let mut balancer = Balancer {
            shared,
            services,
            wakers: Vec::new(),
            threads: Vec::new(),
        };
        let mut queues = queues.into_iter();
        for sockets in sockets {
            balancer.begin(sockets, queues.next())?;
        }
        Ok(balancer)
    }

    fn begin(&mut self, sockets: ThreadSockets, queue: Option<Queue>) -> Result<(), BalancerError> {
        let (clients, peers) = sockets;
        let (incoming, outgoing) = queue
            .map(|queue| (queue.incoming, (queue.number, queue.outgoing)))
            .unzip();
        let mut lanes = Lanes::new(self.shared.clone(), clients, peers, outgoing)?;
        if let Some(incoming) = &incoming {
            lanes.take_frames(incoming)?;
        }
        self.wakers.push(lanes.poll.waker());
        let worker = Worker {
            shared: self.shared.clone(),
            lanes,
            incoming,
            frame_turns: 0,
        };
        let name = format!("dispatch-{}", self.threads.len());
        let thread = std::thread::Builder::new().name(name);
        self.threads.push(thread.spawn(move || worker.run())?);
        Ok(())
    }

    /// The addresses of the services, in the order of the settings.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        (self.shared.settings.services.iter())
            .map(|service| service.listen)
            .collect()
    }

    /// The address for messages of other dispatchers.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.shared.settings.peer_listen
    }

    /// Its state and counters.
    pub fn status(&self) -> Status {
        Status::of(&self.shared)
    }

    /// Adds and removes replicas according to other settings; returns the numbers of added and removed ones.
    ///
    /// # Errors
    /// [`BalancerError::Restart`] if other settings differ; then nothing changes.
    pub fn reload(&mut self, new: &Settings) -> Result<(usize, usize), BalancerError> {
        self.check_same(new)?;
        let mut changes = Vec::new();
        let mut known = self
            .shared
            .replicas
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for (index, service) in new.services.iter().enumerate() {
            let is_wanted = |member: &Member| service.replicas.contains(&member.settings);
            for member in known.iter_mut().filter(|member| member.service == index) {
                if !member.removed && !is_wanted(member) {
                    member.removed = true;
                    changes.push(Change::Remove(member.id));
                }
            }
            for replica in &service.replicas {
                let is_it = |member: &Member| {
                    !member.removed && member.service == index && member.settings == *replica
                };
                if !known.iter().any(is_it) {
                    let id = ReplicaId(known.len() as u16);
                    changes.push(Change::Add(
                        service.id,
                        ReplicaSpec {
                            id,
                            cores: replica.cores,
                        },
                    ));
                    known.push(member(id, index, *replica));
                }
            }
        }
        drop(known);
        self.services.clone_from(&new.services);
        let added = changes
            .iter()
            .filter(|change| matches!(change, Change::Add(..)))
            .count();
        let counts = (added, changes.len() - added);
        self.ask(changes);
        Ok(counts)
    }

    fn check_same(&self, new: &Settings) -> Result<(), BalancerError> {
        let old = &self.shared.settings;
        let like_old = Settings {
            // These follow from when it was started, and from port 0.
            incarnation: old.incarnation,
            peer_listen: old.peer_listen.filter(|_| new.peer_listen.is_some()),
            services: old.services.clone(),
            ..new.clone()
        };
        if like_old != *old {
            return Err(BalancerError::Restart("something outside of services"));
        }
        let is_same = |(old, new): (&ServiceSettings, &ServiceSettings)| {
            let like_old = ServiceSettings {
                listen: old.listen,
                replicas: old.replicas.clone(),
                ..new.clone()
            };
            like_old == *old && (new.listen == old.listen || new.listen.port() == 0)
        };
        let mut pairs = old.services.iter().zip(&new.services);
        if old.services.len() != new.services.len() || !pairs.all(is_same) {
            return Err(BalancerError::Restart("the services themselves"));
        }
        let replicas = new.services.iter().flat_map(|service| &service.replicas);
        let known = self
            .shared
            .replicas
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        if known + replicas.clone().count() > MOST_REPLICAS {
            return Err(BalancerError::Restart("too many replicas by now have"));
        }
        replicas
            .clone()
            .find(|replica| !(1..=1024).contains(&replica.cores))
            .map_or(Ok(()), |_| {
                Err(BalancerError::Restart("the cores of a replica, to none,"))
            })
    }

    fn ask(&self, changes: Vec<Change>) {
        let mut asked = self.shared.changes.lock().unwrap_or_else(PoisonError::into_inner);
        asked.extend(changes);
        drop(asked);
        self.wakers.iter().for_each(Waker::wake);
    }

    /// Whether all threads are at work.
    pub fn is_well(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }

    /// Accepts no more requests, waits at most `patience` until outstanding ones have responses, and ends; returns
    /// whether no request was outstanding any more.
    ///
    /// # Errors
    /// [`BalancerError::Thread`] when a thread had ended before.
    pub fn stop(mut self, patience: Duration) -> Result<bool, BalancerError> {
        self.shared.draining.store(true, Ordering::Release);
        self.wakers.iter().for_each(Waker::wake);
        let begin = Instant::now();
        let is_drained = || self.shared.drained.load(Ordering::Acquire) == self.threads.len();
        while !is_drained() && self.is_well() && begin.elapsed() < patience {
            std::thread::sleep(DRAIN_LOOK);
        }
        let is_drained = is_drained();
        self.end()?;
        self.shared.core().finish()?;
        Ok(is_drained)
    }

    fn end(&mut self) -> Result<(), BalancerError> {
        self.shared.stop.store(true, Ordering::Release);
        self.wakers.iter().for_each(Waker::wake);
        let results: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        for result in results {
            match result {
                Ok(result) => result.map_err(|error| BalancerError::Thread(error.to_string()))?,
                Err(_) => return Err(BalancerError::Thread("it panicked".into())),
            }
        }
        Ok(())
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // After `stop`, there is nothing left to end; otherwise the reason for a thread's end is not needed.
        let _ = self.end();
    }
}

fn member(id: ReplicaId, service: usize, settings: ReplicaSettings) -> Member {
    Member {
        id,
        service,
        settings,
        removed: false,
        work: Arc::default(),
    }
}

/// The replicas, with the numbers of their turn.
fn members(services: &[ServiceSettings]) -> Vec<Member> {
    let replicas = services.iter().enumerate().flat_map(|(index, service)| {
        let replicas = service.replicas.iter();
        replicas.map(move |replica| (index, *replica))
    });
    let numbered = replicas.zip(0_u16..);
    numbered
        .map(|((service, settings), id)| member(ReplicaId(id), service, settings))
        .collect()
}

/// Sockets for every thread. Ports that were left to the kernel are filled in.
fn listen(settings: &mut Settings) -> Result<Vec<ThreadSockets>, BalancerError> {
    let threads = settings.lanes.threads;
    let mut sockets: Vec<ThreadSockets> = (0..threads).map(|_| (Vec::new(), None)).collect();
    for service in &mut settings.services {
        for (thread, socket) in share(&mut service.listen, threads)?.into_iter().enumerate() {
            sockets[thread].0.push(socket);
        }
    }
    if let Some(address) = &mut settings.peer_listen {
        for (thread, socket) in share(address, threads)?.into_iter().enumerate() {
            sockets[thread].1 = Some(socket);
        }
    }
    Ok(sockets)
}

/// One socket per thread at an address.
fn share(address: &mut SocketAddr, threads: usize) -> Result<Vec<Socket>, BalancerError> {
    let bind = |address: SocketAddr, shared: bool| {
        let options = Options {
            shared,
            ..Options::default()
        };
        Socket::bind(address, options).map_err(|error| BalancerError::Socket { address, error })
    };
    // Alone at first: an address that another process shares would be shared with it as well.
    let alone = bind(*address, false)?;
    *address = alone.local_address()?;
    if threads == 1 {
        return Ok(vec![alone]);
    }
    drop(alone);
    (0..threads).map(|_| bind(*address, true)).collect()
}
