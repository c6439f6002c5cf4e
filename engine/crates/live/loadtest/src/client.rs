use crate::measured::Measured;
use crate::pending::Pending;
use crate::{LoadError, Plan, Report};
use rackwright_datagram::{Inbox, Options, Outbox, Poll, Socket};
use rackwright_time::Clock;
use rackwright_traffic::{Random, Sampler, Schedule};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of requests sent between two checks for responses.
const BURST: usize = 64;

/// Maximum time in which an aborted load stops.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Time between the making of the sockets and the first request.
const LEAD: Duration = Duration::from_millis(1);

/// The progress of a load, for observers, which can also abort it.
#[derive(Default, Debug)]
pub struct Progress {
    /// Requests sent so far.
    pub sent: AtomicU64,
    /// When set, no more requests are sent and no more answers awaited.
    pub stop: AtomicBool,
}

/// Sends a load to its targets, and waits until every request has a response or is lost.
///
/// # Errors
/// [`LoadError`].
pub fn run(plan: &Plan, progress: &Progress) -> Result<Report, LoadError> {
    plan.check()?;
    let mut client = Client::new(plan)?;
    client.run(progress)?;
    Ok(client.measured.report())
}

struct Client<'a> {
    plan: &'a Plan,
    connections: Vec<Connection>,
    poll: Poll,
    inbox: Inbox,
    pending: Pending,
    schedule: Schedule,
    work: Sampler,
    random: Random,
    start: Instant,
    timeout: u64,
    measured: Measured,
    request: Vec<u8>,
}

struct Connection {
    socket: Socket,
    outbox: Outbox,
}

impl<'a> Client<'a> {
    fn new(plan: &'a Plan) -> Result<Client<'a>, LoadError> {
        let clock = Clock::new(1_000_000_000).expect("a clock of one cycle a nanosecond");
        let mut random = Random::new(plan.seed, 0, "arrivals");
        let poll = Poll::new()?;
        let targets = std::iter::repeat_n(&plan.targets, plan.connections).flatten();
        let connections = targets
            .map(|target| {
                let socket =
                    Socket::connect(*target, Options::default()).map_err(|error| LoadError::Socket {
                        address: *target,
                        error,
                    })?;
                Ok(Connection {
                    socket,
                    outbox: Outbox::new(),
                })
            })
            .collect::<Result<Vec<_>, LoadError>>()?;
        for (token, connection) in connections.iter().enumerate() {
            poll.add(&connection.socket, token as u64)?;
        }
        Ok(Client {
            plan,
            connections,
            poll,
            inbox: Inbox::new(32),
            pending: Pending::new(plan.protocol.number_bits()),
            schedule: Schedule::new(&plan.arrivals, 0.0, clock, &mut random)?,
            work: plan.work.sampler(clock)?,
            random,
            start: Instant::now() + LEAD,
            timeout: (plan.timeout_us * 1e3) as u64,
            measured: Measured::new(),
            request: Vec::new(),
        })
    }

    fn run(&mut self, progress: &Progress) -> io::Result<()> {
        let mut ready = Vec::new();
        while !self.is_over() && !progress.stop.load(Ordering::Relaxed) {
            let now = self.now();
            self.send(now)?;
            progress.sent.store(self.measured.sent, Ordering::Relaxed);
            if let Some(too_old) = now.checked_sub(self.timeout) {
                self.measured.lost += self.pending.give_up(too_old);
            }
            self.poll.wait(Some(self.wait_time()), &mut ready)?;
            for token in &ready {
                self.receive(*token as usize)?;
            }
        }
        Ok(())
    }

    /// Nanoseconds since the start.
    fn now(&self) -> u64 {
        Instant::now().saturating_duration_since(self.start).as_nanos() as u64
    }

    /// Time of the next request, if there is one and its number would be distinguishable from outstanding ones.
    fn next_due(&self) -> Option<u64> {
        let due = self.schedule.next().0;
        (self.measured.sent < self.plan.requests && due != u64::MAX && !self.pending.is_full()).then_some(due)
    }

    fn is_over(&self) -> bool {
        let may_send = self.measured.sent < self.plan.requests && self.schedule.next().0 != u64::MAX;
        !may_send && self.pending.oldest().is_none()
    }

    fn wait_time(&self) -> Duration {
        let given_up = self.pending.oldest().map(|sent| sent + self.timeout);
        let next = self.next_due().into_iter().chain(given_up).min();
        let until =
            |time: u64| (self.start + Duration::from_nanos(time)).saturating_duration_since(Instant::now());
        next.map_or(LONGEST_WAIT, |time| until(time).min(LONGEST_WAIT))
    }

    /// Sends the requests that are due.
    fn send(&mut self, now: u64) -> io::Result<()> {
        for _ in 0..BURST {
            let Some(due) = self.next_due().filter(|due| *due <= now) else {
                break;
            };
            self.schedule.advance(&mut self.random);
            let number = self.pending.ask(due, now);
            let work = self.work.draw(&mut self.random).0;
            let to = self.random.below(self.connections.len());
            let plan = self.plan;
            (plan.protocol).write(&mut self.request, number, work, plan.request_bytes);
            self.connections[to].outbox.push(None, &[&self.request]);
            self.measured.send(due, (number >= plan.warmup).then_some(now));
        }
        for connection in &mut self.connections {
            let sent = connection.outbox.flush(&connection.socket)?;
            self.measured.refused += u64::from(sent.refused);
        }
        Ok(())
    }

    fn receive(&mut self, token: usize) -> io::Result<()> {
        let Client {
            connections, inbox, ..
        } = self;
        match inbox.receive(&connections[token].socket) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.measured.refused += 1;
                return Ok(());
            }
            result => result?,
        };
        let now = self.now();
        for datagram in self.inbox.datagrams() {
            let Some(number) = self.plan.protocol.answered(datagram.bytes) else {
                self.measured.malformed += 1;
                continue;
            };
            let Some((number, asked)) = self.pending.answer(number) else {
                self.measured.late += 1;
                continue;
            };
            self.measured
                .answer(now, (number >= self.plan.warmup).then_some(asked));
        }
        Ok(())
    }
}
