use crate::design::Design;
use crate::error::raise;
use crate::parameters;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rackwright_device::{Place, Tree, TreeMaker};
use rackwright_fabric::{
    Attached, Bench, Beside, Call, Captured, Class, Found, Kind, Part, Parts, PortCounters, Row,
    SystemDescription, Test,
};
use rackwright_memory::SharedHierarchy;
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A packet as transferred over a link: picosecond, number of the port, sequence number, check, bytes.
type Packet<'py> = (u64, u16, u16, u32, Bound<'py, PyBytes>);

/// A server's PCIe fabric.
#[pyclass]
pub struct Fabric {
    fabric: rackwright_fabric::Fabric,
    found: Vec<Found>,
}

#[pymethods]
impl Fabric {
    /// The fabric that `system`, in JSON, describes, as software has found and set it.
    #[new]
    #[pyo3(signature = (system, designs, memory_bytes, memory = BTreeMap::new(), capture = false))]
    fn new(
        py: Python<'_>,
        system: &str,
        designs: Vec<PyRef<'_, Design>>,
        memory_bytes: u64,
        memory: BTreeMap<String, u64>,
        capture: bool,
    ) -> PyResult<Fabric> {
        let system = serde_json::from_str(system).map_err(raise)?;
        let designs: Vec<_> = designs.iter().map(|design| design.design.clone()).collect();
        let parameters = parameters::memory(&memory)?;
        let build = || {
            let mut fabric = rackwright_fabric::Fabric::new(system, &designs, memory_bytes, &parameters)?;
            if capture {
                fabric.capture();
            }
            let found = fabric.enumerate()?;
            Ok::<_, rackwright_fabric::FabricError>(Fabric { fabric, found })
        };
        py.detach(build).map_err(raise)
    }

    /// The cards as software has found them, in JSON.
    #[getter]
    fn found(&self) -> String {
        Value::from_iter(self.found.iter().map(found_record)).to_string()
    }

    /// The bridges in front of them, in JSON.
    #[getter]
    fn bridges(&self) -> String {
        let bridges = self.fabric.bridges().iter().map(|bridge| {
            json!({
                "id": bridge.id.to_string(),
                "kind": bridge.kind.name(),
                "secondary_bus": bridge.buses.start(),
                "subordinate_bus": bridge.buses.end(),
                "window": {
                    "address": bridge.window.start,
                    "bytes": bridge.window.end - bridge.window.start,
                },
            })
        });
        Value::from_iter(bridges).to_string()
    }

    /// Runs a test by the card with one number, to that with another; returns the row in JSON. `beside` is the number
    /// of a card that reads meanwhile, the bytes of its requests, and the maximum number of outstanding ones.
    #[pyo3(signature = (test, size, by, to, count, outstanding, interval, copy, warm, beside = None))]
    #[allow(clippy::too_many_arguments)]
    fn bench(
        &mut self,
        py: Python<'_>,
        test: &str,
        size: u32,
        by: usize,
        to: Option<usize>,
        count: u32,
        outstanding: u32,
        interval: u32,
        copy: u32,
        warm: bool,
        beside: Option<(usize, u32, u32)>,
    ) -> PyResult<String> {
        let test: Test = test.parse().map_err(raise)?;
        let bench = Bench {
            count,
            outstanding,
            interval,
            copy,
            warm,
        };
        let card = |number: usize| self.card(number);
        let (by, to) = (card(by)?, to.map(card).transpose()?);
        let loading = beside
            .map(|(number, size, outstanding)| card(number).map(|by| (by, size, outstanding)))
            .transpose()?;
        let beside = loading.as_ref().map(|(by, size, outstanding)| Beside {
            by,
            size: *size,
            bench: Bench {
                count: u32::MAX,
                outstanding: *outstanding,
                interval: 1,
                copy: 0,
                warm,
            },
        });
        let row = py.detach(|| {
            self.fabric
                .bench(test, size, &bench, (&by, to.as_ref()), beside.as_ref())
        });
        row.map(|row| row_record(&row).to_string()).map_err(raise)
    }

    /// Lets the host write registers of the unit on a card, offsets and values, and wait for the word at `flag`;
    /// returns in JSON the time that this took, and the results of the card's reads.
    fn call(&mut self, py: Python<'_>, card: usize, writes: Vec<(u64, u64)>, flag: u64) -> PyResult<String> {
        let card = self.card(card)?;
        let call = Call {
            writes: &writes,
            flag,
        };
        let called = py.detach(|| self.fabric.call(&card, &call)).map_err(raise)?;
        let record = json!({
            "nanoseconds": nanoseconds(called.span.0),
            "reads": called.reads,
            "parts": parts_record(&called.parts),
        });
        Ok(record.to_string())
    }

    /// Writes the host's memory, at no cost; with `warm`, its last-level cache holds the data then.
    #[pyo3(signature = (address, data, warm = false))]
    fn write_memory(&mut self, address: u64, data: &[u8], warm: bool) -> PyResult<()> {
        self.fabric.write_memory(address, data, warm).map_err(raise)
    }

    /// Reads the host's memory.
    fn read_memory<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, length, |bytes| {
            self.fabric.read_memory(address, bytes).map_err(raise)
        })
    }

    /// The counters of each port's output, in JSON.
    fn ports(&self) -> String {
        ports_record(self.fabric.port_counters())
    }

    fn counters(&self) -> BTreeMap<String, u64> {
        let counters = self.fabric.counters();
        counters
            .iter()
            .map(|(name, count)| (name.to_string(), count))
            .collect()
    }

    #[getter]
    fn packet_hops(&self) -> u64 {
        self.fabric.packet_hops()
    }

    #[getter]
    fn digest(&self) -> String {
        self.fabric.digest().to_string()
    }

    /// Whether no packet is in flight and all credits have been returned.
    #[getter]
    fn is_quiet(&self) -> bool {
        self.fabric.is_quiet()
    }

    /// The packets since the last call.
    fn captured<'py>(&mut self, py: Python<'py>) -> Vec<Packet<'py>> {
        packets(py, self.fabric.take_captured())
    }
}

/// A fabric for machines: each machine started with it has a new one, whose results this returns.
#[pyclass(frozen)]
pub struct AttachedFabric {
    system: SystemDescription,
    designs: Vec<rackwright_rtl::Design>,
    capture: bool,
    made: Mutex<Option<Attached>>,
}

#[pymethods]
impl AttachedFabric {
    /// The fabric that `system`, in JSON, describes; with `capture`, packets are recorded.
    #[new]
    fn new(system: &str, designs: Vec<PyRef<'_, Design>>, capture: bool) -> PyResult<AttachedFabric> {
        Ok(AttachedFabric {
            system: serde_json::from_str(system).map_err(raise)?,
            designs: designs.iter().map(|design| design.design.clone()).collect(),
            capture,
            made: Mutex::default(),
        })
    }

    /// The counters of each port's output in the machine that was started last, in JSON.
    fn ports(&self) -> PyResult<String> {
        let counters = self.made()?.port_counters();
        let named = counters.iter().map(|(name, counters)| (name.as_str(), *counters));
        Ok(ports_record(named))
    }

    /// Packets that have crossed a link in it.
    #[getter]
    fn packet_hops(&self) -> PyResult<u64> {
        Ok(self.made()?.packet_hops())
    }

    /// Its packets since the last call.
    fn captured<'py>(&self, py: Python<'py>) -> PyResult<Vec<Packet<'py>>> {
        Ok(packets(py, self.made()?.take_captured()))
    }
}

impl AttachedFabric {
    fn made(&self) -> PyResult<Attached> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.clone()
            .ok_or_else(|| raise("no machine was started with this fabric"))
    }
}

impl TreeMaker for AttachedFabric {
    fn make(
        &self,
        hierarchy: &SharedHierarchy,
        memory: Range<u64>,
        messages: [Place; 2],
    ) -> Result<Box<dyn Tree>, Box<dyn Error + Send + Sync>> {
        let fabric = Attached::new(self.system.clone(), &self.designs, hierarchy, (memory, messages))?;
        if self.capture {
            fabric.capture();
        }
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(fabric.clone());
        Ok(Box::new(fabric))
    }
}

fn ports_record<'a>(counters: impl Iterator<Item = (&'a str, PortCounters)>) -> String {
    let ports = counters.map(|(name, counters)| {
        let classes = Class::ALL.map(|class| {
            let of = counters.classes[class.index()];
            let record = json!({
                "packets": of.packets,
                "payload_bytes": of.payload_bytes,
                "credit_stall_ns": nanoseconds(of.credit_stall.0),
            });
            (class.name().to_string(), record)
        });
        json!({
            "port": name,
            "wire_bytes": counters.wire_bytes,
            "acknowledgements": counters.acknowledgements,
            "credit_updates": counters.updates,
            "classes": Map::from_iter(classes),
        })
    });
    Value::from_iter(ports).to_string()
}

fn packets(py: Python<'_>, captured: Vec<Captured>) -> Vec<Packet<'_>> {
    let packets = captured.into_iter();
    packets
        .map(|packet| {
            let bytes = PyBytes::new(py, &packet.bytes);
            (
                packet.picosecond,
                packet.port,
                packet.sequence,
                packet.check,
                bytes,
            )
        })
        .collect()
}

impl Fabric {
    /// The card of a number as software has found it.
    fn card(&self, number: usize) -> PyResult<Found> {
        let found = self.found.iter().find(|found| found.card == number);
        found
            .cloned()
            .ok_or_else(|| raise(format!("there is no card {number}")))
    }
}

/// The fields of a packet, in JSON, as the engine reads its bytes.
#[pyfunction]
pub fn packet_fields(packet: &[u8]) -> PyResult<String> {
    let header = rackwright_fabric::decode(packet).map_err(raise)?;
    let mut record = json!({
        "kind": kind_name(header.kind),
        "traffic_class": header.traffic_class,
        "attributes": header.attributes,
        "poisoned": header.poisoned,
        "length_words": header.words,
        "requester": header.requester.to_string(),
        "tag": header.tag,
    });
    let own = match header.kind {
        Kind::Completion(_) => json!({
            "completer": header.completion.completer.to_string(),
            "status": format!("{:?}", header.completion.status).to_lowercase(),
            "byte_count": header.completion.byte_count,
            "lower_address": header.completion.lower_address,
        }),
        Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => json!({
            "target": header.request.target.to_string(),
            "register": header.request.address,
            "byte_enables": header.request.enables,
        }),
        Kind::Message(routing, _) => json!({
            "routing": routing,
            "code": header.request.enables,
            "rest": header.request.address,
        }),
        _ => json!({"address": header.request.address, "byte_enables": header.request.enables}),
    };
    if let (Value::Object(record), Value::Object(own)) = (&mut record, own) {
        record.extend(own);
    }
    Ok(record.to_string())
}

/// The name of a kind of packets in records.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::MemoryRead => "memory_read",
        Kind::MemoryWrite => "memory_write",
        Kind::ConfigurationRead(false) => "configuration_read_0",
        Kind::ConfigurationRead(true) => "configuration_read_1",
        Kind::ConfigurationWrite(false) => "configuration_write_0",
        Kind::ConfigurationWrite(true) => "configuration_write_1",
        Kind::FetchAdd => "fetch_add",
        Kind::Swap => "swap",
        Kind::CompareSwap => "compare_swap",
        Kind::Message(_, false) => "message",
        Kind::Message(_, true) => "message_with_data",
        Kind::Completion(false) => "completion",
        Kind::Completion(true) => "completion_with_data",
    }
}

fn found_record(found: &Found) -> Value {
    let windows = found.windows.iter().map(|window| {
        json!({
            "bar": window.bar,
            "address": window.range.start,
            "bytes": window.range.end - window.range.start,
            "prefetchable": window.prefetchable,
        })
    });
    json!({
        "card": found.card,
        "id": found.id.to_string(),
        "vendor": found.identity.0,
        "device": found.identity.1,
        "class_code": found.class_code,
        "windows": Value::from_iter(windows),
    })
}

fn row_record(row: &Row) -> Value {
    let parts = row.parts.as_ref().map(parts_record);
    json!({
        "test": row.test.name(),
        "path": row.path,
        "size_bytes": row.size_bytes,
        "median_ns": row.latencies.median,
        "p95_ns": row.latencies.p95,
        "p99_ns": row.latencies.p99,
        "gigabits_per_second": row.gigabits_per_second,
        "parts": parts,
    })
}

fn parts_record(parts: &Parts) -> Value {
    let of = |part: Part| (part.name().to_string(), json!(nanoseconds(parts.of(part).0)));
    Value::Object(Map::from_iter(Part::ALL.map(of)))
}

/// Cycles of the fabric as nanoseconds.
fn nanoseconds(cycles: u64) -> f64 {
    cycles as f64 / 1_024_000.0
}
