use crate::{Cluster, Node};
use rackwright_blade::Blade;
use rackwright_ethernet::{OutputPort, PortCounters, Switch};
use rackwright_gateway::HostPort;
use rackwright_schedule::ModelId;
use rackwright_server::{LinuxServer, ProgramServer, Reported};
use rackwright_stats::Digest;
use rackwright_traffic::{Client, Host, Latencies, Service};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The results of a cluster so far.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Equal digests mean equal runs.
    pub digest: String,
    /// Simulated cycles.
    pub cycles: u64,
    /// Cycles per second of simulated time.
    pub clock_hz: u64,
    /// Servers, in the order of the description.
    pub servers: Vec<ServerReport>,
    /// Frames that switches did not forward although there was room.
    pub switches: Vec<SwitchReport>,
    /// Ports of servers and switches.
    pub ports: Vec<PortReport>,
    /// Times from request to answer, of all clients together.
    pub latency: LatencyReport,
}

/// The results of some of the nodes of a cluster: those that one process simulates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartReport {
    /// In the order of the description.
    nodes: Vec<NodeReport>,
    /// Times from request to answer, of all clients among them.
    latencies: Latencies,
}

/// The results of a node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct NodeReport {
    digest: u128,
    server: Option<ServerReport>,
    switch: Option<SwitchReport>,
    ports: Vec<PortReport>,
}

/// A server. Its groups are not visible in the report's JSON, which has one object for a server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServerReport {
    /// Its name.
    pub name: String,
    /// Its hardware address.
    pub mac: String,
    /// Its Internet address.
    pub ip: String,
    /// The frames of its port.
    #[serde(flatten)]
    pub packets: PacketReport,
    /// The requests of its client, if it has one.
    #[serde(flatten)]
    pub client: RequestReport,
    /// The requests to its service, if it has one.
    #[serde(flatten)]
    pub service: ServiceReport,
    /// What it executes.
    #[serde(flatten)]
    pub software: SoftwareReport,
    /// Cycles of RTL that were evaluated rather than skipped.
    pub unit_cycles: u64,
    /// The counters of its NIC, by the names of the unit's events: only under Linux.
    pub nic_events: BTreeMap<String, u64>,
}

/// The frames of a server.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct PacketReport {
    /// Frames whose first flit has left.
    #[serde(rename = "packets_sent")]
    pub sent: u64,
    /// Frames that arrived.
    #[serde(rename = "packets_received")]
    pub received: u64,
    /// Frames for which its port had no room.
    #[serde(rename = "packets_dropped")]
    pub dropped: u64,
    /// Frames that it could not use: addressed to others, damaged, unknown, unrequested.
    #[serde(rename = "packets_refused")]
    pub refused: u64,
    /// Received frames with a congestion mark.
    #[serde(rename = "packets_marked")]
    pub marked: u64,
}

/// The client of a server at `traffic` fidelity.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RequestReport {
    /// Requests that it sent.
    pub requests: u64,
    /// Requests that were answered in time.
    pub answered: u64,
    /// Requests that it has abandoned.
    pub lost: u64,
    /// Responses to abandoned requests.
    pub late: u64,
    /// Times from request to answer.
    pub latency: LatencyReport,
}

/// The service of a server or memory blade.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServiceReport {
    /// Requests that it answered.
    pub served: u64,
    /// Requests for which it had no room.
    pub rejected: u64,
    /// Cycles that its cores have worked, together.
    pub busy_cycles: u64,
    /// Times that requests waited for a core.
    pub wait: LatencyReport,
}

/// The program or kernel of a server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SoftwareReport {
    /// Instructions executed: none at `traffic` fidelity.
    pub instructions: u64,
    /// The status with which its program has ended.
    pub exit_code: Option<i32>,
    /// The reason why it has stopped although its program has not ended.
    pub error: Option<String>,
    /// The standard output of its program.
    pub stdout: String,
    /// The standard error of its program; not for bare metal.
    pub stderr: String,
    /// The output on its console: only under Linux.
    pub console: String,
}

/// Frames that a switch did not forward although there was room.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SwitchReport {
    /// Its name.
    pub name: String,
    /// Frames shorter than an Ethernet header.
    pub runts: u64,
    /// Frames longer than the largest.
    pub giants: u64,
    /// Frames for addresses that its table does not name.
    pub unknown: u64,
    /// Frames lost by faults.
    pub lost: u64,
    /// The counters of its dispatcher, by the names of [`rackwright_dispatch::Counters`]; empty if it has none.
    pub dispatched: BTreeMap<String, u64>,
}

/// A port. Frames offered to it were sent, dropped, or are queued.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PortReport {
    /// Its name, as `tor0.port3`.
    pub name: String,
    /// The port at the other end of its link.
    pub peer: String,
    /// Frames that arrived.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that were to leave here.
    pub offered: u64,
    /// Frames whose first flit has left.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames for which there was no room.
    pub dropped: u64,
    /// Frames that wait.
    pub queued: u64,
    /// Frames with a congestion mark.
    pub marked: u64,
    /// The most bytes the buffer has held.
    pub peak_bytes: u64,
}

/// Durations, in cycles.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LatencyReport {
    /// Number of observations.
    pub count: u64,
    /// The exact mean.
    pub mean: f64,
    /// Percentiles, to three digits.
    pub p50: u64,
    /// 90 %.
    pub p90: u64,
    /// 95 %.
    pub p95: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

impl LatencyReport {
    pub(crate) fn new(latencies: &Latencies) -> LatencyReport {
        LatencyReport {
            count: latencies.count(),
            mean: latencies.mean(),
            p50: latencies.percentile(50.0),
            p90: latencies.percentile(90.0),
            p95: latencies.percentile(95.0),
            p99: latencies.percentile(99.0),
            p999: latencies.percentile(99.9),
            max: latencies.longest(),
        }
    }
}

impl Report {
    /// The results of a cluster, from those of its parts, which are in order.
    pub fn assemble(cycles: u64, clock_hz: u64, parts: impl IntoIterator<Item = PartReport>) -> Report {
        let mut report = Report {
            digest: String::new(),
            cycles,
            clock_hz,
            servers: Vec::new(),
            switches: Vec::new(),
            ports: Vec::new(),
            latency: LatencyReport::default(),
        };
        let (mut digest, mut latencies) = (Digest::new(), Latencies::new());
        for part in parts {
            for node in part.nodes {
                digest.bytes(&node.digest.to_le_bytes());
                report.servers.extend(node.server);
                report.switches.extend(node.switch);
                report.ports.extend(node.ports);
            }
            latencies.merge(&part.latencies);
        }
        report.digest = digest.to_string();
        report.latency = LatencyReport::new(&latencies);
        report
    }
}

impl PartReport {
    pub(crate) fn new(cluster: &Cluster) -> PartReport {
        let mut latencies = Latencies::new();
        let hosts = cluster.own.clone().filter_map(|node| cluster.host(node));
        (hosts.filter_map(Host::client)).for_each(|client| latencies.merge(client.latencies()));
        PartReport {
            nodes: (cluster.own.clone())
                .map(|node| node_report(cluster, node))
                .collect(),
            latencies,
        }
    }
}

fn node_report(cluster: &Cluster, node: usize) -> NodeReport {
    let id = ModelId(node);
    let port = |port, counters, queued| port_report(cluster, (node, port), counters, queued);
    let mut report = NodeReport {
        digest: cluster.graph.model_digest(id).value(),
        ..NodeReport::default()
    };
    match cluster.graph.model(id) {
        Node::Switch(switch) => {
            report.switch = Some(switch_report(cluster.names[node].clone(), switch));
            let ports = switch.output_ports().iter().enumerate();
            report.ports = ports
                .map(|(number, output)| port(number, output.counters(), output.queued()))
                .collect();
        }
        Node::Host(host) => {
            report.server = Some(server_report(cluster, node, host));
            let output = host.output_port();
            report.ports = vec![port(0, output.counters(), output.queued())];
        }
        Node::Server(server) => {
            let dropped = ["nic.dropped_full", "nic.dropped_length"];
            report.server = Some(software_report(cluster, node, server, &dropped));
            report.ports = vec![port(0, server.port_counters(), server.queued())];
        }
        Node::Program(server) => {
            report.server = Some(user_program_report(cluster, node, server));
            report.ports = vec![port(0, server.port_counters(), server.queued())];
        }
        Node::Linux(server) => {
            report.server = Some(linux_report(cluster, node, server));
            report.ports = vec![port(0, server.port_counters(), server.queued())];
        }
        Node::Blade(blade) => {
            let output = blade.output_port();
            report.server = Some(blade_report(cluster, node, blade));
            report.ports = vec![port(0, output.counters(), output.queued())];
        }
        Node::HostPort(host_port) => {
            let output = host_port.output_port();
            report.server = Some(host_port_report(cluster, node, host_port));
            report.ports = vec![port(0, output.counters(), output.queued())];
        }
        Node::Own(own) => {
            let output = own.output_port();
            report.server = Some(own_report(cluster, node, output));
            report.ports = vec![port(0, output.counters(), output.queued())];
        }
        Node::Elsewhere(_) => unreachable!("a process reports on its own nodes"),
    }
    report
}

fn switch_report(name: String, switch: &Switch) -> SwitchReport {
    let refusals = switch.refusals();
    let dispatched = switch.dispatched();
    let counts = dispatched.iter().flat_map(|counters| counters.named());
    SwitchReport {
        lost: refusals.lost,
        dispatched: counts.map(|(name, count)| (name.to_string(), count)).collect(),
        name,
        runts: refusals.runts,
        giants: refusals.giants,
        unknown: refusals.unknown,
    }
}

fn port_report(cluster: &Cluster, id: (usize, usize), counters: PortCounters, queued: u64) -> PortReport {
    let name = |(node, port): (usize, usize)| format!("{}.port{port}", cluster.names[node]);
    PortReport {
        name: name(id),
        peer: name(cluster.ends[id.0][id.1]),
        received: counters.received,
        received_bytes: counters.received_bytes,
        offered: counters.offered,
        sent: counters.sent,
        sent_bytes: counters.sent_bytes,
        dropped: counters.dropped,
        queued,
        marked: counters.marked,
        peak_bytes: counters.peak_bytes,
    }
}

/// The part that every server has.
fn addresses(cluster: &Cluster, node: usize) -> ServerReport {
    let peer = cluster.peers[&node];
    ServerReport {
        name: cluster.names[node].clone(),
        mac: peer.mac.to_string(),
        ip: peer.endpoint.address.to_string(),
        ..ServerReport::default()
    }
}

impl PacketReport {
    /// The frames that the counters of a port know of.
    fn of(port: PortCounters) -> PacketReport {
        PacketReport {
            sent: port.sent,
            received: port.received,
            dropped: port.dropped,
            ..PacketReport::default()
        }
    }
}

fn host_port_report(cluster: &Cluster, node: usize, host_port: &HostPort) -> ServerReport {
    ServerReport {
        packets: PacketReport {
            refused: host_port.refused(),
            ..PacketReport::of(host_port.output_port().counters())
        },
        ..addresses(cluster, node)
    }
}

fn own_report(cluster: &Cluster, node: usize, output: &OutputPort) -> ServerReport {
    ServerReport {
        packets: PacketReport::of(output.counters()),
        ..addresses(cluster, node)
    }
}

fn blade_report(cluster: &Cluster, node: usize, blade: &Blade) -> ServerReport {
    let counters = blade.counters();
    ServerReport {
        packets: PacketReport {
            refused: counters.ignored + counters.dead,
            ..PacketReport::of(blade.output_port().counters())
        },
        service: ServiceReport {
            served: counters.fetched + counters.stored,
            rejected: counters.refused,
            busy_cycles: counters.busy_cycles,
            ..ServiceReport::default()
        },
        ..addresses(cluster, node)
    }
}

/// The part that every server with software has; `dropped` names the events of its NIC that drop frames.
fn software_report(cluster: &Cluster, node: usize, server: &dyn Reported, dropped: &[&str]) -> ServerReport {
    let counters = server.counters();
    let output = server.output();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ServerReport {
        packets: PacketReport {
            dropped: dropped.iter().filter_map(|name| counters.get(name)).sum(),
            ..PacketReport::of(server.port_counters())
        },
        software: SoftwareReport {
            instructions: server.instructions(),
            exit_code: server.exit_code(),
            error: server.error().map(ToString::to_string),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            console: text(&output.console),
        },
        unit_cycles: server.unit_cycles(),
        ..addresses(cluster, node)
    }
}

/// A server whose program has no network: it refuses what arrives.
fn user_program_report(cluster: &Cluster, node: usize, server: &ProgramServer) -> ServerReport {
    let received = server.port_counters().received;
    ServerReport {
        packets: PacketReport {
            received,
            refused: received,
            ..PacketReport::default()
        },
        ..software_report(cluster, node, server, &[])
    }
}

fn linux_report(cluster: &Cluster, node: usize, server: &LinuxServer) -> ServerReport {
    let counters = server.counters();
    let dropped = ["dropped_full", "dropped_length", "virtio_dropped"];
    ServerReport {
        nic_events: counters
            .iter()
            .map(|(name, count)| (name.to_string(), count))
            .collect(),
        ..software_report(cluster, node, server, &dropped)
    }
}

fn server_report(cluster: &Cluster, node: usize, host: &Host) -> ServerReport {
    let refused = host.counters();
    ServerReport {
        packets: PacketReport {
            refused: refused.misdelivered
                + refused.checksum
                + refused.foreign
                + refused.unasked
                + refused.dead,
            marked: refused.marked,
            ..PacketReport::of(host.output_port().counters())
        },
        client: host.client().map(request_report).unwrap_or_default(),
        service: host.service().map(service_report).unwrap_or_default(),
        ..addresses(cluster, node)
    }
}

fn request_report(client: &Client) -> RequestReport {
    let counters = client.counters();
    RequestReport {
        requests: counters.requests,
        answered: counters.answered,
        lost: counters.lost,
        late: counters.late,
        latency: LatencyReport::new(client.latencies()),
    }
}

fn service_report(service: &Service) -> ServiceReport {
    let counters = service.counters();
    ServiceReport {
        served: counters.answered,
        rejected: counters.dropped,
        busy_cycles: counters.busy_cycles,
        wait: LatencyReport::new(service.waits()),
    }
}
