use rackwright_dispatch::{LoadDelta, Policy};
use rackwright_server::CardFeatures;
use rackwright_traffic::{ClientParameters, ServiceParameters};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A cluster as plain data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Cycles per second of every link, switch and server; one flit of 64 bits per cycle.
    #[serde(default = "default_clock")]
    pub clock_hz: u64,
    /// The seed of all randomness.
    #[serde(default)]
    pub seed: u64,
    /// Requests sent earlier, in microseconds, do not count in latencies and waiting times.
    #[serde(default)]
    pub warmup_us: f64,
    /// Servers and switches. Threads divide them in this order, so that neighbours should be consecutive.
    pub nodes: Vec<NodeSpec>,
    /// Links. The ports of a node are numbered in the order in which links name it.
    pub links: Vec<Link>,
}

/// A server or a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeSpec {
    /// Its name, which no other node has.
    pub name: String,
    /// The hardware address of a server; assigned when absent.
    #[serde(default)]
    pub mac: Option<String>,
    /// The Internet address of a server; assigned when absent.
    #[serde(default)]
    pub ip: Option<String>,
    /// The buffer of each of its ports.
    #[serde(default = "default_buffer")]
    pub buffer_bytes: u64,
    /// What it is.
    #[serde(flatten)]
    pub kind: NodeKind,
}

impl NodeSpec {
    /// With the addresses that it is assigned, and 512 KiB per port.
    pub fn new(name: impl Into<String>, kind: NodeKind) -> NodeSpec {
        NodeSpec {
            name: name.into(),
            mac: None,
            ip: None,
            buffer_bytes: default_buffer(),
            kind,
        }
    }
}

/// The kind of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeKind {
    /// A switch.
    Switch(SwitchSpec),
    /// A server at `traffic` fidelity.
    Traffic(Box<TrafficSpec>),
    /// A server with a hart and a NIC in RTL.
    Server(Box<ServerSpec>),
    /// A server that runs a Linux program in user mode, and has no NIC.
    Program(Box<ProgramSpec>),
    /// A server that runs Linux and has a NIC in RTL.
    Linux(Box<LinuxSpec>),
    /// A memory blade.
    MemoryBlade(BladeSpec),
    /// A port to the machine that simulates.
    HostPort(HostPortSpec),
    /// A node of a kind that the builder of the cluster adds: see [`Kinds`](crate::Kinds).
    Own(OwnSpec),
}

/// A node of a kind that is not one of this crate's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSpec {
    /// The name of the kind.
    pub model: String,
    /// The settings of the kind.
    #[serde(default)]
    pub settings: serde_json::Value,
}

/// A memory blade.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BladeSpec {
    /// From the last flit of a request to the first flit of its answer.
    pub service_us: f64,
    /// Maximum number of its pages.
    pub pages: usize,
    /// When it is down: pairs of times in microseconds. It has lost all pages when it restarts.
    #[serde(default)]
    pub outages_us: Vec<[f64; 2]>,
}

/// A port to the machine that simulates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostPortSpec {
    /// The carrier of its frames.
    pub wire: WireSpec,
    /// Simulated seconds per real second, at most.
    #[serde(default = "default_speed")]
    pub speed: f64,
}

/// The carrier of the frames of a host port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireSpec {
    /// A UNIX datagram socket at this path.
    Socket(PathBuf),
    /// The TAP device of this name.
    Tap(String),
}

fn default_speed() -> f64 {
    1.0
}

/// A switch. Its ports follow from the links.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// From the last flit in to the first flit out.
    #[serde(default = "default_switching")]
    pub switching_cycles: u64,
    /// Number of bytes in a buffer from which on frames get a congestion mark.
    #[serde(default)]
    pub mark_bytes: Option<u64>,
    /// Longer frames are dropped.
    #[serde(default = "default_largest_frame")]
    pub largest_frame: usize,
    /// Its policy for the choice among equal ports and for drops: a name in [`rackwright_ethernet::POLICIES`].
    #[serde(default = "default_policy")]
    pub policy: String,
    /// Routes that are not to be computed: from the name of a server to the names of the neighbours
    /// through which its frames go.
    #[serde(default)]
    pub routes: BTreeMap<String, Vec<String>>,
    /// The dispatch of requests for the services directly below it, if it dispatches them.
    #[serde(default)]
    pub dispatch: Option<DispatchSpec>,
    /// The probability with which a frame that arrives is lost.
    #[serde(default)]
    pub loss: f64,
    /// The probability with which a frame arrives late, and
    #[serde(default)]
    pub late: f64,
    /// by at most this number of microseconds.
    #[serde(default)]
    pub late_us: f64,
    /// When it is down: pairs of times in microseconds. It has lost its state when it restarts.
    #[serde(default)]
    pub outages_us: Vec<[f64; 2]>,
}

/// The configuration of dispatch at a switch: [`rackwright_dispatch::Configuration`] without the members that follow
/// from the topology.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchSpec {
    /// How it chooses.
    pub policy: Policy,
    /// Requests for each core below which no gossip is sent.
    pub gossip_floor: u32,
    /// How slowly the threshold of gossip follows the load.
    pub average_shift: u32,
    /// Minimum difference of the loads for redirection to another rack.
    pub load_delta: LoadDelta,
    /// Maximum number of redirections of a request.
    pub max_redirects: u8,
    /// When a request without a response is forgotten.
    pub expiry_us: f64,
    /// Interval after which a peer without recent gossip is sent gossip anyway.
    pub truth_interval_us: f64,
    /// When a silent peer is taken for dead.
    pub peer_timeout_us: f64,
    /// Interval of probes of a silent replica.
    pub probe_interval_us: f64,
    /// Maximum number of outstanding requests in the rack.
    pub tracked: usize,
    /// The dispatcher in RTL that takes the place of the model, by the name of its design.
    #[serde(default)]
    pub design: Option<String>,
}

impl Default for SwitchSpec {
    /// 10 cycles, and no marks.
    fn default() -> Self {
        SwitchSpec {
            switching_cycles: default_switching(),
            mark_bytes: None,
            policy: default_policy(),
            largest_frame: default_largest_frame(),
            routes: BTreeMap::new(),
            dispatch: None,
            loss: 0.0,
            late: 0.0,
            late_us: 0.0,
            outages_us: Vec::new(),
        }
    }
}

/// A server at `traffic` fidelity: a client, a service, both, or neither.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficSpec {
    /// The UDP port of client and service.
    #[serde(default = "default_port")]
    pub port: u16,
    /// Time of a message in the network stack, in each direction.
    #[serde(default)]
    pub stack_us: f64,
    /// Whether it understands congestion marks.
    #[serde(default)]
    pub ecn: bool,
    /// Its client.
    #[serde(default)]
    pub client: Option<TrafficClient>,
    /// Its service.
    #[serde(default)]
    pub service: Option<ServiceParameters>,
    /// Which service it is a replica of, for switches that dispatch.
    #[serde(default)]
    pub service_id: u16,
    /// When it is down: pairs of times in microseconds.
    #[serde(default)]
    pub outages_us: Vec<[f64; 2]>,
}

impl Default for TrafficSpec {
    /// Neither client nor service, and no time spent in the stack.
    fn default() -> Self {
        TrafficSpec {
            port: default_port(),
            stack_us: 0.0,
            ecn: false,
            client: None,
            service: None,
            service_id: 0,
            outages_us: Vec::new(),
        }
    }
}

/// A server with a hart and a NIC in RTL.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// The harts' timing model: a name in [`rackwright_server::CpuModel`].
    #[serde(default = "default_cpu")]
    pub cpu: String,
    /// How many harts.
    #[serde(default = "default_harts")]
    pub harts: usize,
    /// The file with its bare-metal program.
    pub program: PathBuf,
    /// The program's arguments, without its name.
    #[serde(default)]
    pub arguments: Vec<Argument>,
    /// Whether the program knows the hardware addresses of the servers in its arguments from the start.
    #[serde(default)]
    pub static_arp: bool,
    /// The design of its NIC, by the name that was passed to the cluster.
    pub nic: String,
    /// Other units beside the hart.
    #[serde(default)]
    pub units: Vec<UnitSpec>,
    /// Whether idle units are not clocked. The result does not depend on it.
    #[serde(default = "default_skip_idle")]
    pub skip_idle: bool,
    /// Parameters of its caches and DRAM that differ from the default, by name.
    #[serde(default)]
    pub memory: BTreeMap<String, u64>,
    /// The same of its harts.
    #[serde(default)]
    pub core: BTreeMap<String, u64>,
}

/// A server that runs a Linux program in user mode, and has no NIC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// The harts' timing model: a name in [`rackwright_server::CpuModel`].
    pub cpu: String,
    /// How many harts.
    pub harts: usize,
    /// The static ELF file with its program.
    pub program: PathBuf,
    /// The program's arguments, without its name.
    pub arguments: Vec<Argument>,
    /// Units beside each hart.
    pub units: Vec<UnitSpec>,
    /// Whether idle units are not clocked. The result does not depend on it.
    pub skip_idle: bool,
    /// Parameters of its caches and DRAM that differ from the default, by name.
    pub memory: BTreeMap<String, u64>,
    /// The same of its harts.
    pub core: BTreeMap<String, u64>,
}

/// A unit of a server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSpec {
    /// Its design, by the name that was passed to the cluster.
    pub design: String,
    /// Where it sits.
    #[serde(default = "default_placement")]
    pub placement: String,
}

/// A server that runs Linux and has a NIC in RTL.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinuxSpec {
    /// The harts' timing model: a name of [`rackwright_server::CpuModel`].
    pub cpu: String,
    /// Where it begins.
    pub start: StartSpec,
    /// The command that root executes in a shell after booting; its parts are concatenated unchanged.
    pub command: Vec<Argument>,
    /// Whether it knows the hardware addresses of the servers in its command from the start.
    #[serde(default)]
    pub static_arp: bool,
    /// The longest packet of its network, in bytes.
    pub mtu: u16,
    /// The features of its NIC for the driver.
    pub features: FeaturesSpec,
    /// The design of its NIC, by the name that was passed to the cluster.
    pub nic: String,
    /// Units beside its harts.
    #[serde(default)]
    pub units: Vec<UnitSpec>,
    /// Whether idle units are not clocked. The result does not depend on it.
    #[serde(default = "default_skip_idle")]
    pub skip_idle: bool,
    /// Parameters of its caches and DRAM that differ from the default, by name.
    #[serde(default)]
    pub memory: BTreeMap<String, u64>,
    /// The same of its harts.
    #[serde(default)]
    pub core: BTreeMap<String, u64>,
}

/// The features of a NIC for its driver.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeaturesSpec {
    /// It inserts checksums into frames, and verifies those of TCP.
    pub checksums: bool,
    /// A frame that it has received may fill several buffers.
    pub mergeable: bool,
    /// It interrupts only if the driver requests it; otherwise with every frame.
    pub suppression: bool,
    /// It interrupts after this number of frames,
    pub frames: u16,
    /// or this number of cycles of the network after the first of them.
    pub delay: u32,
}

impl From<FeaturesSpec> for CardFeatures {
    fn from(spec: FeaturesSpec) -> CardFeatures {
        CardFeatures {
            checksums: spec.checksums,
            mergeable: spec.mergeable,
            suppression: spec.suppression,
            frames: spec.frames,
            delay: spec.delay,
        }
    }
}

/// The initial state of a server that runs Linux.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StartSpec {
    /// At its reset.
    Reset {
        /// How many harts.
        harts: usize,
        /// Bytes of memory.
        memory_bytes: u64,
        /// Whether harts have vector units.
        #[serde(default)]
        vector: bool,
        /// What it boots.
        image: ImageSpec,
        /// The kernel's command line.
        command_line: String,
    },
    /// A checkpoint of a booted machine.
    Booted {
        /// The file of the checkpoint.
        checkpoint: PathBuf,
        /// The image that was booted, for its observation.
        #[serde(default)]
        image: Option<ImageSpec>,
    },
}

/// The positions of the parts of an image in its file: first byte and length.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSpec {
    /// The file.
    pub path: PathBuf,
    /// The firmware.
    pub firmware: (usize, usize),
    /// The kernel.
    pub kernel: (usize, usize),
    /// The initial file system.
    pub files: (usize, usize),
}

/// An argument of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// As it is.
    Text(String),
    /// The Internet address of a server.
    Address {
        /// The server's name.
        address_of: String,
    },
}

/// A client and its servers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrafficClient {
    /// The names of its servers, one of which it selects at random for each request.
    pub to: Vec<String>,
    /// How.
    #[serde(flatten)]
    pub parameters: ClientParameters,
}

/// A link between two nodes, in both directions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The names of its ends.
    pub ends: [String; 2],
    /// Latency of a flit.
    pub latency_us: f64,
    /// Data rate of both ends; one flit per cycle if absent.
    #[serde(default)]
    pub bits_per_second: Option<u64>,
}

fn default_harts() -> usize {
    1
}

fn default_cpu() -> String {
    rackwright_server::CpuModel::Rocket.name().to_string()
}

fn default_placement() -> String {
    rackwright_memory::Route::NEAR_CORE.to_string()
}

fn default_skip_idle() -> bool {
    true
}

fn default_clock() -> u64 {
    3_200_000_000
}

fn default_switching() -> u64 {
    10
}

fn default_buffer() -> u64 {
    512 << 10
}

fn default_policy() -> String {
    rackwright_ethernet::POLICIES[0].0.to_string()
}

fn default_largest_frame() -> usize {
    rackwright_ethernet::LARGEST_FRAME
}

fn default_port() -> u16 {
    11211
}
