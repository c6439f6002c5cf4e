use super::Builder;
use crate::{linux, Argument, ClusterError, LinuxSpec, ProgramSpec, ServerSpec, StartSpec, UnitSpec};
use rackwright_ethernet::{Ipv4, Mac};
use rackwright_machine::{Checkpoint, MachineError};
use rackwright_rtl::{Attach, Design};
use rackwright_server::{
    CpuModel, DecodedPrograms, LinuxConfig, LinuxServer, LinuxStart, NetworkConfig, NetworkedServer,
    PlacedUnit, ProgramConfig, ProgramServer, ServerConfig, ServerError, ServerParameters, BARE_METAL_BYTES,
    USER_BYTES,
};
use rackwright_traffic::Peer;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// The timing parameters of a server, and its decoded programs.
struct Timed {
    cpu: CpuModel,
    parameters: ServerParameters,
    code: DecodedPrograms,
}

/// Names the node of a server that was refused.
fn refused(name: &str) -> impl Fn(ServerError) -> ClusterError + Copy + '_ {
    move |reason| ClusterError::Server {
        name: name.to_string(),
        reason,
    }
}

/// Servers with cores, their programs and checkpoints.
impl Builder<'_> {
    pub(super) fn server(&self, index: usize, spec: &ServerSpec) -> Result<NetworkedServer, ClusterError> {
        let name = self.topology.name(index);
        let refused = refused(name);
        let Timed {
            cpu,
            parameters,
            code,
        } = self.timed(&spec.cpu, &spec.memory, &spec.core).map_err(refused)?;
        let file = self.program(name, &spec.program)?;
        let attached = self.placed(name, &spec.units)?;
        // The unit that fetches remote pages is on the network, like the NIC.
        let (pagers, units): (Vec<_>, Vec<_>) = attached
            .into_iter()
            .partition(|unit| unit.design.manifest.attaches(Attach::Walk));
        let config = ServerConfig {
            cpu,
            rtl: None,
            harts: spec.harts,
            parameters: &parameters,
            units: &units,
            guest_bytes: BARE_METAL_BYTES,
            skip_idle: spec.skip_idle,
            check_idle: false,
            waves: None,
            tree: None,
            chip: None,
        };
        let peer = self.peers[&index];
        let network = NetworkConfig {
            nic: self.design(name, &spec.nic)?,
            pager: pagers.first().map(|unit| &unit.design),
            clock: self.topology.clock,
            code: &code,
            port: self.ports(index)[0],
            mac: peer.mac,
            address: peer.endpoint.address,
            neighbours: &self.neighbours(name, spec)?,
            arguments: &self.arguments(name, &spec.program, &spec.arguments)?,
            observation: self.parts.observations.get(name),
        };
        NetworkedServer::new(&config, &network, &file).map_err(refused)
    }

    pub(super) fn user_program(
        &self,
        index: usize,
        spec: &ProgramSpec,
    ) -> Result<ProgramServer, ClusterError> {
        let name = self.topology.name(index);
        let refused = refused(name);
        let Timed {
            cpu,
            parameters,
            code,
        } = self.timed(&spec.cpu, &spec.memory, &spec.core).map_err(refused)?;
        let file = self.program(name, &spec.program)?;
        let config = ServerConfig {
            cpu,
            rtl: None,
            harts: spec.harts,
            parameters: &parameters,
            units: &self.placed(name, &spec.units)?,
            guest_bytes: USER_BYTES,
            skip_idle: spec.skip_idle,
            check_idle: false,
            waves: None,
            tree: None,
            chip: None,
        };
        let program = ProgramConfig {
            clock: self.topology.clock,
            port: self.ports(index)[0],
            code: &code,
            arguments: &self.arguments(name, &spec.program, &spec.arguments)?,
            observation: self.parts.observations.get(name),
        };
        ProgramServer::new(&config, &program, &file).map_err(refused)
    }

    pub(super) fn linux(&self, index: usize, spec: &LinuxSpec) -> Result<LinuxServer, ClusterError> {
        let name = self.topology.name(index);
        let refused = refused(name);
        let peer = self.peers[&index];
        let Timed {
            cpu,
            parameters,
            code,
        } = self.timed(&spec.cpu, &spec.memory, &spec.core).map_err(refused)?;
        let named = |address_of: &str| self.named(name, address_of);
        let whoami = (name, peer.endpoint.address);
        let command = linux::command(spec, whoami, named)?;
        let units = self.placed(name, &spec.units)?;
        let make = |start: LinuxStart<'_>| {
            let config = LinuxConfig {
                start,
                cpu,
                parameters: &parameters,
                // Servers draw random numbers of their own, such as the first port or sequence number.
                seed: self.topology.description.seed.wrapping_add(index as u64),
                code: &code,
                nic: self.design(name, &spec.nic)?,
                units: &units,
                clock: self.topology.clock,
                port: self.ports(index)[0],
                mac: peer.mac,
                mtu: spec.mtu,
                features: spec.features.into(),
                command: &command,
                skip_idle: spec.skip_idle,
                observation: self.parts.observations.get(name),
            };
            LinuxServer::new(&config).map_err(refused)
        };
        match &spec.start {
            StartSpec::Booted { checkpoint, .. } => {
                let checkpoint = self
                    .checkpoint(checkpoint)
                    .map_err(|error| refused(error.into()))?;
                make(LinuxStart::Booted(&checkpoint))
            }
            StartSpec::Reset {
                harts,
                memory_bytes,
                vector,
                image,
                command_line,
            } => {
                let file = self.program(name, &image.path)?;
                let software = image
                    .software(&file, command_line)
                    .ok_or_else(|| ClusterError::Image {
                        name: name.to_string(),
                        path: image.path.display().to_string(),
                    })?;
                make(LinuxStart::Reset {
                    software: &software,
                    harts: *harts,
                    memory_bytes: *memory_bytes,
                    vector: *vector,
                })
            }
        }
    }

    /// The timing parameters of a server, from its description.
    fn timed(
        &self,
        cpu: &str,
        memory: &BTreeMap<String, u64>,
        core: &BTreeMap<String, u64>,
    ) -> Result<Timed, ServerError> {
        let cpu = cpu.parse()?;
        let parameters = ServerParameters::with(cpu, memory, core)?;
        // Decoded blocks depend on the core's parameters.
        let usual = parameters == ServerParameters::server();
        let code = if usual {
            self.code.clone()
        } else {
            DecodedPrograms::default()
        };
        Ok(Timed {
            cpu,
            parameters,
            code,
        })
    }

    /// A checkpoint, shared by all servers that continue from it.
    pub(super) fn checkpoint(&self, path: &Path) -> Result<Rc<Checkpoint>, MachineError> {
        if let Some(found) = self.checkpoints.borrow().get(path) {
            return Ok(found.clone());
        }
        let read = Rc::new(Checkpoint::read(path)?);
        self.checkpoints
            .borrow_mut()
            .insert(path.to_path_buf(), read.clone());
        Ok(read)
    }

    /// The units of the server `name`.
    fn placed(&self, name: &str, units: &[UnitSpec]) -> Result<Vec<PlacedUnit>, ClusterError> {
        let placed = |unit: &UnitSpec| {
            Ok(PlacedUnit {
                design: self.design(name, &unit.design)?.clone(),
                placement: unit.placement.parse().map_err(|reason| ClusterError::Placement {
                    name: name.to_string(),
                    reason,
                })?,
            })
        };
        units.iter().map(placed).collect()
    }

    pub(super) fn design(&self, name: &str, design: &str) -> Result<&Design, ClusterError> {
        self.parts
            .designs
            .get(design)
            .ok_or_else(|| ClusterError::Design {
                name: name.to_string(),
                design: design.to_string(),
            })
    }

    pub(super) fn program(&self, name: &str, path: &Path) -> Result<Rc<[u8]>, ClusterError> {
        if let Some(file) = self.programs.borrow().get(path) {
            return Ok(file.clone());
        }
        let file: Rc<[u8]> = match std::fs::read(path) {
            Ok(bytes) => bytes.into(),
            Err(reason) => {
                return Err(ClusterError::Program {
                    name: name.to_string(),
                    path: path.display().to_string(),
                    reason,
                })
            }
        };
        self.programs
            .borrow_mut()
            .insert(path.to_path_buf(), file.clone());
        Ok(file)
    }

    /// The arguments of a program with its name, that of its file without the folder, in front.
    fn arguments(
        &self,
        name: &str,
        program: &Path,
        given: &[Argument],
    ) -> Result<Vec<Vec<u8>>, ClusterError> {
        let program = program.file_name().unwrap_or_default().as_encoded_bytes();
        let mut arguments = vec![program.to_vec()];
        for argument in given {
            let text = match argument {
                Argument::Text(text) => text.clone(),
                Argument::Address { address_of } => {
                    self.named(name, address_of)?.endpoint.address.to_string()
                }
            };
            arguments.push(text.into_bytes());
        }
        Ok(arguments)
    }

    /// The addresses that the program of a server knows from the start.
    pub(super) fn neighbours(&self, name: &str, spec: &ServerSpec) -> Result<Vec<(Ipv4, Mac)>, ClusterError> {
        let named = spec.arguments.iter().filter_map(|argument| match argument {
            Argument::Address { address_of } if spec.static_arp => Some(self.named(name, address_of)),
            _ => None,
        });
        named
            .map(|peer| peer.map(|peer| (peer.endpoint.address, peer.mac)))
            .collect()
    }

    /// The server whose address the program of `name` receives.
    pub(super) fn named(&self, name: &str, address_of: &str) -> Result<&Peer, ClusterError> {
        let by = || format!("an argument of `{name}`");
        let server = self.topology.find(address_of, by)?;
        let peer = self.peers.get(&server);
        peer.ok_or_else(|| ClusterError::NoAddress(address_of.to_string()))
    }
}
