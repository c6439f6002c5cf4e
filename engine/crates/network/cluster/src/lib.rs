//! Clusters: a topology as plain data, which is checked before anything is built, and the network of this topology.
//!
//! A [`Description`] names nodes and links. [`Cluster::new`] checks it, assigns addresses, computes
//! forwarding tables and a tree for broadcasts, and builds the graph of models.

mod addresses;
mod build;
mod check;
pub mod checkpoint;
mod client;
mod cluster;
mod description;
mod dispatch;
mod error;
mod kinds;
mod linux;
mod loops;
mod node;
mod report;
mod routes;
mod topology;

pub use client::ClientReport;
pub use cluster::{Cluster, Designs, Execution, Observations};
pub use description::{
    Argument, BladeSpec, Description, DispatchSpec, HostPortSpec, ImageSpec, Link, LinuxSpec, NodeKind,
    NodeSpec, OwnSpec, ProgramSpec, ServerSpec, StartSpec, SwitchSpec, TrafficClient, TrafficSpec, UnitSpec,
    WireSpec,
};
pub use error::ClusterError;
pub use kinds::{Kinds, MakeNode, OwnNode, OwnStart};
pub use node::{Elsewhere, Node};
pub use report::{
    LatencyReport, PacketReport, PartReport, PortReport, Report, RequestReport, ServerReport, ServiceReport,
    SoftwareReport, SwitchReport,
};
