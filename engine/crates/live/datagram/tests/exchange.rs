//! Datagrams between sockets of this machine, in batches.

use rackwright_datagram::{Inbox, Options, Outbox, Poll, Socket};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// A socket whose receives wait, but not for ever.
fn listener() -> Socket {
    let options = Options {
        nonblocking: false,
        ..Options::default()
    };
    let socket = Socket::bind(loopback(), options).unwrap();
    socket.set_receive_timeout(Some(Duration::from_secs(10))).unwrap();
    socket
}

fn receive(socket: &Socket, count: usize) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut inbox = Inbox::new(8);
    let mut all = Vec::new();
    while all.len() < count {
        assert!(
            inbox.receive(socket).unwrap() > 0,
            "{} of {count} came",
            all.len()
        );
        all.extend(
            inbox
                .datagrams()
                .map(|datagram| (datagram.from, datagram.bytes.to_vec())),
        );
    }
    all
}

#[test]
fn datagrams_of_all_lengths_arrive_in_order_as_they_were_sent() {
    let receiver = listener();
    let to = receiver.local_address().unwrap();
    let sender = Socket::connect(to, Options::default()).unwrap();
    let lengths = [0, 1, 64, 64, 64, 63, 64, 1432, 1432, 1433, 5, 5, 4, 9000, 0, 0, 1];
    for mut outbox in [Outbox::new(), Outbox::without_segmentation()] {
        let sent: Vec<Vec<u8>> = (lengths.iter().enumerate())
            .map(|(at, length)| vec![at as u8; *length])
            .collect();
        for datagram in &sent {
            let (head, body) = datagram.split_at(datagram.len() / 3);
            outbox.push(None, &[head, body]);
        }
        let result = outbox.flush(&sender).unwrap();
        assert_eq!((result.datagrams, result.dropped), (sent.len() as u64, 0));
        assert!(outbox.is_empty());
        let from = sender.local_address().unwrap().port();
        for (received, sent) in receive(&receiver, sent.len()).iter().zip(&sent) {
            assert_eq!((received.0.port(), &received.1), (from, sent));
        }
    }
}

#[test]
fn many_addresses_get_what_is_theirs() {
    let receivers: Vec<Socket> = (0..40).map(|_| listener()).collect();
    let sender = Socket::bind(loopback(), Options::default()).unwrap();
    let mut outbox = Outbox::new();
    for round in 0..100_u8 {
        for (at, receiver) in receivers.iter().enumerate() {
            outbox.push(
                Some(receiver.local_address().unwrap()),
                &[&[at as u8, round], &[7; 30]],
            );
        }
    }
    assert_eq!(outbox.flush(&sender).unwrap().datagrams, 4000);
    for (at, receiver) in receivers.iter().enumerate() {
        let received = receive(receiver, 100);
        let expected = (0..100).map(|round| [at as u8, round]);
        assert!(expected
            .zip(&received)
            .all(|(head, (_, bytes))| bytes[..2] == head && bytes.len() == 32));
    }
}

#[test]
fn a_socket_that_waits_for_nothing_says_that_nothing_is_there() {
    let socket = Socket::bind(loopback(), Options::default()).unwrap();
    assert_eq!(Inbox::new(4).receive(&socket).unwrap(), 0);
}

#[test]
fn a_connected_socket_learns_that_nobody_listens() {
    let gone = listener().local_address().unwrap();
    let sender = Socket::connect(gone, Options::default()).unwrap();
    let mut outbox = Outbox::new();
    let refused = (0..100).any(|_| {
        outbox.push(None, &[&[1]]);
        outbox.flush(&sender).unwrap().refused
    });
    assert!(refused);
}

#[test]
fn a_wait_ends_with_a_datagram_with_time_and_when_it_is_woken() {
    let socket = Socket::bind(loopback(), Options::default()).unwrap();
    let mut poll = Poll::new().unwrap();
    poll.add(&socket, 5).unwrap();
    let mut ready = Vec::new();
    poll.wait(Some(Duration::from_millis(1)), &mut ready).unwrap();
    assert_eq!(ready, []);
    poll.waker().wake();
    poll.wait(None, &mut ready).unwrap();
    assert_eq!(ready, []);
    let sender = Socket::connect(socket.local_address().unwrap(), Options::default()).unwrap();
    let mut outbox = Outbox::new();
    outbox.push(None, &[b"hello"]);
    outbox.flush(&sender).unwrap();
    poll.wait(None, &mut ready).unwrap();
    assert_eq!(ready, [5]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the kernel waits in real time")]
fn a_wait_until_a_time_ends_then_or_at_the_time_of_the_wait_before() {
    let mut poll = Poll::new().unwrap();
    let mut ready = Vec::new();
    let begin = Instant::now();
    let at = |ms| begin + Duration::from_millis(ms);
    poll.wait_until(begin, &mut ready).unwrap();
    poll.waker().wake();
    poll.wait_until(at(3), &mut ready).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60), "the waker ends it");
    // The timer stays as it was set for the earlier time, and then is set anew.
    poll.wait_until(at(3_600_000), &mut ready).unwrap();
    assert!(Instant::now() >= at(3));
    poll.wait_until(at(6), &mut ready).unwrap();
    assert!(Instant::now() >= at(6));
    assert_eq!(ready, []);
}
