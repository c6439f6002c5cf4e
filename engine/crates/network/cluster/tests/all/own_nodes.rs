//! A node of a kind of one's own in a cluster: the crates do not know it.

use rackwright_cluster::{
    Cluster, Description, Kinds, Link, NodeKind, NodeSpec, OwnNode, OwnSpec, OwnStart, SwitchSpec,
};
use rackwright_ethernet::{Frame, OutputPort};
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};
use serde_json::json;

/// Bytes of a frame: an Ethernet header and a number.
const BYTES: usize = 64;
/// From a frame that has come to its answer.
const THINK: Cycles = Cycles::new(50);

/// Sends frames to another node at regular times, or sends back what comes, and counts what comes.
struct Station {
    own: [u8; 6],
    peer: [u8; 6],
    output: OutputPort,
    /// How many frames are to be sent, and when the next one is.
    left: u64,
    next: Cycle,
    period: Cycles,
    answers: bool,
    came: Vec<u64>,
}

impl Station {
    fn start(start: &OwnStart<'_>, answers: bool) -> Result<Box<dyn OwnNode>, String> {
        let number = |name: &str| start.settings.get(name).and_then(|value| value.as_u64());
        let frames = number("frames").unwrap_or(0);
        if !answers && frames == 0 {
            return Err("it has no `frames` to send".to_string());
        }
        let mac = |number: u64| {
            let bytes = number.to_be_bytes();
            [bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]
        };
        Ok(Box::new(Station {
            own: start.peer.mac.0,
            peer: mac(number("peer").unwrap_or(0)),
            output: OutputPort::new(start.port),
            left: frames,
            next: Cycle::new(100),
            period: Cycles::new(number("period").unwrap_or(1000)),
            answers,
            came: Vec::new(),
        }))
    }

    fn frame(&self, to: &[u8]) -> Frame {
        let mut bytes = [0; BYTES];
        bytes[..6].copy_from_slice(to);
        bytes[6..12].copy_from_slice(&self.own);
        bytes[12..14].copy_from_slice(&[0x88, 0xb6]);
        bytes[14..22].copy_from_slice(&(self.left + self.came.len() as u64).to_le_bytes());
        Frame::raw(&bytes).unwrap()
    }

    fn due(&self) -> Cycle {
        if self.left == 0 {
            return Cycle::NEVER;
        }
        self.next
    }

    fn send(&mut self, at: Cycle, frame: Frame, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        assert!(self.output.offer(at, frame.length()), "there is room");
        self.output.enqueue(at, frame, until, 0, outbox);
    }
}

impl Model for Station {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn next_event(&self) -> Cycle {
        self.due().min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while let Some((_, arrival)) = arrivals.next() {
            self.output.count_received(arrival.item.length());
            self.came.push(arrival.cycle.0);
            if self.answers {
                let bytes = arrival.item.to_bytes();
                self.send(arrival.cycle + THINK, self.frame(&bytes[6..12]), until, outbox);
            }
        }
        while self.due() < until {
            let (at, peer) = (self.next, self.peer);
            self.send(at, self.frame(&peer), until, outbox);
            self.left -= 1;
            self.next += self.period;
        }
    }

    fn digest(&self, digest: &mut Digest) {
        self.came.iter().for_each(|cycle| digest.number(*cycle));
    }
}

impl OwnNode for Station {
    fn output_port(&self) -> &OutputPort {
        &self.output
    }
}

fn kinds() -> Kinds {
    let mut kinds = Kinds::default();
    kinds.add("beacon", Box::new(|start| Station::start(start, false)));
    kinds.add("mirror", Box::new(|start| Station::start(start, true)));
    kinds
}

const MIRROR: &str = "02:00:00:00:00:09";

fn own(name: &str, model: &str, settings: serde_json::Value) -> NodeSpec {
    let model = model.to_string();
    NodeSpec::new(name, NodeKind::Own(OwnSpec { model, settings }))
}

/// A beacon and a mirror at a switch.
fn description(beacon: NodeSpec) -> Description {
    let mirror = NodeSpec {
        mac: Some(MIRROR.to_string()),
        ..own("mirror", "mirror", json!(null))
    };
    let link = |name: &str| Link {
        ends: [name.to_string(), "tor".to_string()],
        latency_us: 0.5,
        bits_per_second: None,
    };
    Description {
        clock_hz: 3_200_000_000,
        seed: 1,
        warmup_us: 0.0,
        links: [&beacon.name, &mirror.name].map(|name| link(name)).to_vec(),
        nodes: vec![
            beacon,
            mirror,
            NodeSpec::new("tor", NodeKind::Switch(SwitchSpec::default())),
        ],
    }
}

#[test]
fn a_node_of_ones_own_is_a_node_like_the_others() {
    let settings = json!({"frames": 20, "period": 700, "peer": 0x0200_0000_0009_u64});
    let description = description(own("beacon", "beacon", settings));
    let outcome = |threads| {
        let mut cluster = Cluster::with_kinds(&description, &kinds()).unwrap();
        cluster.execution().set_threads(threads);
        cluster.run(Cycle::new(1_000_000));
        let sent = |port| cluster.counters(port).unwrap().sent;
        assert_eq!([sent("beacon.port0"), sent("mirror.port0")], [20, 20]);
        let report = cluster.report();
        assert_eq!(report.servers[0].packets.received, 20);
        report.digest
    };
    assert_eq!(outcome(1), outcome(3));
}

#[test]
fn a_description_with_such_nodes_is_read_and_written() {
    let text = r#"{"name": "b", "kind": "own", "model": "beacon", "settings": {"frames": 3}}"#;
    let node: NodeSpec = serde_json::from_str(text).unwrap();
    assert_eq!(node.kind, own("b", "beacon", json!({"frames": 3})).kind);
    let again = serde_json::from_str(&serde_json::to_string(&node).unwrap());
    assert_eq!(again.ok(), Some(node));
}

#[test]
fn what_no_kind_makes_is_refused() {
    let refusal = |node: NodeSpec| {
        let refused = Cluster::with_kinds(&description(node), &kinds());
        refused.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(
        refusal(own("odd", "moon", json!(null))),
        "`odd`: no kind of node is called `moon`"
    );
    assert_eq!(
        refusal(own("mute", "beacon", json!({}))),
        "`mute`: it has no `frames` to send"
    );
}
