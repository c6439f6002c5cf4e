"""The simulation engine (engine/crates/python). Addresses and lengths are in bytes, times in cycles."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

class EngineError(Exception):
    """The engine refuses; the message says why in one sentence."""

class Toolchain:
    """The tools that compile RTL, and the cache of what they made."""

    def __init__(self, verilator_root: str, compiler: str, cache: str) -> None:
        """`verilator_root` holds bin/verilator_bin; `compiler` is a C++ compiler; `cache` a folder."""

    def build(
        self,
        manifest: str,
        waves: str | None = None,
        clock_hz: int | None = None,
        parameters: dict[str, int | str] = ...,
        plusargs: list[str] = ...,
    ) -> Design:
        """Compiles the design of a manifest, up to a minute, or takes it from the cache.

        `clock_hz` is its clock beside a hart, by default the manifest's. `parameters` of the top module go
        before the manifest's. `plusargs` are what `$value$plusargs` finds.
        """

    def with_state(self, design: Design) -> Design:
        """The same design, compiled such that checkpoints can hold the state of its instances.

        Raises `EngineError` for one with ports whose state cannot be saved.
        """

class Design:
    """A compiled unit."""

    @property
    def unit(self) -> str:
        """Name by which users ask for it."""
    @property
    def top(self) -> str:
        """Its top module."""
    @property
    def key(self) -> str:
        """Equal for designs that were compiled alike from the same sources."""
    @property
    def clock_hz(self) -> int:
        """Frequency of its clock."""
    @property
    def plusargs(self) -> list[str]:
        """The values for `$value$plusargs` in its RTL."""
    @property
    def opcodes(self) -> list[int]:
        """The numbers n of the custom-n instructions that it answers to."""
    @property
    def interrupts_processes(self) -> bool:
        """Whether it has an interrupt line for processes of Linux."""
    @property
    def has_registers(self) -> bool:
        """Whether it is accessed, or given commands, through registers."""
    @property
    def commands(self) -> list[tuple[str, int]]:
        """The numbers of the commands that it says it has, by name."""
    @property
    def registers(self) -> list[tuple[str, int]]:
        """Offsets of the registers that it says it has, by name; of several of a kind that of the first."""
    @property
    def memory_ports(self) -> list[tuple[str, int]]:
        """Names of its memory ports and the bytes of a beat."""
    @property
    def events(self) -> list[str]:
        """Names of its events."""
    @property
    def parameters(self) -> dict[str, object]:
        """What it was elaborated with."""

def check_manifest(manifest: Path) -> tuple[list[str], str | None]:
    """Where the unit of a manifest may be attached, and what one of the former format is to say instead.

    Raises `EngineError` when it is not a manifest.
    """

def interrupt_word(registers: int) -> int:
    """Where programs wait for the interrupts of the unit whose registers are at that address."""

def reach(manifests: Sequence[Path]) -> list[tuple[str, list[tuple[int, int, int]], int | None]]:
    """How harts call and reach units of these manifests, in their order.

    Of each, its name, the ranges of functs as opcode, first and last, and the address of its registers.
    Raises `EngineError` when they can't be attached together.
    """

def reach_of(designs: Sequence[Design]) -> list[tuple[str, list[tuple[int, int, int]], int | None]]:
    """The same of compiled units."""

def linux_devices() -> list[tuple[str, int, int, int]]:
    """The devices of a server that boots Linux, in the order of their addresses.

    Of each, its name, its first address, its bytes, and its interrupt source at the PLIC (0: none).
    """

def bare_metal_devices(networked: bool) -> list[tuple[str, int, int, int]]:
    """Those of a server that runs bare metal, with the registers of its NIC when it is in a cluster."""

def memory_places() -> tuple[int, int, int]:
    """Where memory begins, how many bytes bare metal has, and a program in user mode has of addresses."""

def pci_interrupt(number: int) -> int:
    """Interrupt source at the PLIC of the function in device `number` of the PCI bus."""

def unit_register_bytes() -> int:
    """Bytes of the registers of a unit."""

class UnitBench:
    """A unit alone against guest memory and the timing hierarchy."""

    def __init__(
        self,
        design: Design,
        placement: str = "near-core",
        guest_bytes: int = 1 << 32,
        skip_idle: bool = True,
        waves: str | None = None,
        check_idle: bool = False,
        memory: Mapping[str, int] = ...,
        own_memory: bool = False,
    ) -> None:
        """`waves` is an FST file to write; it needs a design that was built for it.

        `memory`: numbers of caches and DRAM in the place of the default, by name. `own_memory`: the default
        is a channel of DRAM without caches, and the unit has its own clock beside that of the memory.

        `check_idle`: the unit is always clocked, and one that does something while idle ends in an
        `EngineError`.
        """

    def write_memory(self, address: int, data: bytes) -> None:
        """Changes memory from outside; costs no time."""

    def read_memory(self, address: int, length: int) -> bytes:
        """Reads memory from outside; costs no time. Writes of the unit are there when answered."""

    def allow(self, address: int, length: int, access: str) -> None:
        """Lets the unit read ("r"), write ("w") or both ("rw"); the first call forbids all the rest.

        A write must stay inside byte by byte, a read must be of a beat that holds an allowed byte.
        """

    def forbid_all(self) -> None:
        """Forgets the allowed ranges and refuses every access until some are allowed again."""

    @property
    def violations(self) -> int:
        """Accesses refused so far because they were not allowed."""

    def warm(self, address: int, length: int, level: str) -> None:
        """Puts a range into a cache, "llc" or "l2"."""

    def set_context(
        self,
        satp: int,
        privilege: int = 0,
        user_memory: bool = False,
        executable_readable: bool = False,
    ) -> None:
        """What commands come with from now on: registers of the hart, for a unit that translates addresses.

        `privilege` is 0 for user, 1 for supervisor, 3 for machine mode; the others are SUM and MXR.
        """

    def fence(self) -> None:
        """Has a unit that translates addresses forget what it knows of the page tables."""

    def fault(self, address: int, length: int) -> None:
        """Makes memory answer accesses to a range with a fault; these are no violations."""

    def command(
        self,
        opcode: int,
        funct: int,
        rs1: int = 0,
        rs2: int = 0,
        xd: bool = False,
        max_cycles: int = 0,
    ) -> int | None:
        """Gives a command; with `xd`, waits for the answer, at most `max_cycles` (0: no limit)."""

    def run(self, cycles: int) -> None:
        """Lets time pass; raises `EngineError` for a unit that has stopped."""

    def run_until_idle(self, max_cycles: int = 0) -> bool:
        """Lets time pass until the unit is idle, at most `max_cycles` (0: no limit); tells whether it is."""

    @property
    def cycle(self) -> int:
        """Now."""
    @property
    def unit_cycle(self) -> int:
        """Now, in cycles of the unit's clock."""

    @property
    def evaluated_cycles(self) -> int:
        """Cycles in which the RTL was stepped."""
    @property
    def digest(self) -> str:
        """Digest over everything that crossed the unit's pins."""

    def landmarks(self) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """The first read and the last write since this was last called: when asked for, when answered."""

    def events(self) -> dict[str, int]:
        """Sums of the unit's events."""

    def deliver(self, frame: bytes, at: int = 0, spacing: int = 1, port: str | None = None) -> int:
        """Has a frame arrive at cycle `at` or now, if that is later, a flit every `spacing` cycles.

        It comes in at the stream port `port`, or else at the first. Gives the cycle after its last flit.
        Frames of one port must not overlap. Raises `EngineError` when the unit has no such port.
        """

    def deliver_flit(self, data: bytes, last: bool, at: int = 0) -> None:
        """Has up to 8 bytes of a frame arrive."""

    def sent_frames(self) -> list[tuple[int, int, bytes]]:
        """The frames that left since the last call: cycles of the first and last flit, bytes."""

    def frames_by_port(self) -> list[tuple[str, int, int, bytes]]:
        """The same, each with the name of its stream port before the rest."""

    def interrupts(self) -> list[tuple[int, bool]]:
        """The changes of the interrupt line since the last call: cycle, level."""

    def memory_counters(self) -> dict[str, int]:
        """Hits and misses of the caches."""

    def record(self, enabled: bool) -> None:
        """Whether to keep the inputs of every evaluated cycle for `replay`."""

    @property
    def recorded_cycles(self) -> int:
        """Cycles recorded so far."""

    def replay(self) -> None:
        """Gives a fresh copy of the unit the recorded inputs again, in a bare Verilator loop."""

    def register_write(self, address: int, value: int) -> None:
        """Writes a register of a unit with a memory-mapped command queue."""

    def register_read(self, address: int) -> int:
        """Reads a register of a unit with a memory-mapped command queue."""

class MeshMeasured(TypedDict):
    """How packets fared: those that counted and arrived, cycles, flits a tile and cycle, all arrivals."""

    packets: int
    arrived: int
    mean_latency: float
    accepted: float
    digest: str

class MeshReplayed(TypedDict):
    """How messages of a run fared, beside the run's times of them.

    Their number; mean latencies in the run and now; the mean difference without signs; the number of messages
    that met no other, and of those with equal latencies; the digest of all arrivals.
    """

    messages: int
    run_latency: float
    latency: float
    difference: float
    alone: int
    alone_equal: int
    digest: str

class ChipMesh:
    """The mesh between the tiles of a server, which times its accesses to memory."""

    def __init__(
        self,
        *,
        width: int,
        height: int,
        routing: str,
        depth: int,
        stages: int,
        flit_bytes: int,
        networks: Sequence[int],
        memory: int,
        harts: Sequence[int],
        units: Sequence[int],
        record: bool = False,
    ) -> None:
        """`networks` are those of requests, forwards and responses; the other numbers are tiles.

        Raises `EngineError` for a mesh that there is not.
        """
    def replay(self, design: Design | None = None) -> MeshReplayed:
        """Sends the recorded messages through the mesh in RTL of `design`, or its model cycle by cycle.

        The design has one network, with flits of 8 bytes: each network is replayed alone. Raises
        `EngineError` for another design, and when an assertion of the RTL fails.
        """

class ServerResult:
    """How a program ran."""

    @property
    def exit_code(self) -> int:
        """Exit status of the program."""
    @property
    def instructions(self) -> int:
        """Instructions retired."""
    @property
    def cycles(self) -> int:
        """Duration in cycles of the core's clock."""
    @property
    def clock_hz(self) -> int:
        """Frequency of that clock."""
    @property
    def digest(self) -> str:
        """Digest of the run."""
    @property
    def wall_seconds(self) -> float:
        """Real time that the simulation took."""
    @property
    def stdout(self) -> bytes:
        """What the program wrote to its standard output."""
    @property
    def stderr(self) -> bytes:
        """What the program wrote to its standard error."""
    @property
    def unknown_calls(self) -> list[str]:
        """Names of the system calls that it made and that are not emulated."""
    @property
    def unit_cycles(self) -> int:
        """Cycles in which RTL was stepped, of all units."""
    @property
    def counters(self) -> dict[str, int]:
        """Counters of the core and the caches."""

class AttachedFabric:
    """A fabric for machines: each that is started with it has a new one, of which this tells."""

    def __init__(self, system: str, designs: Sequence[Design], capture: bool) -> None:
        """The fabric that `system`, in JSON, describes; `capture` keeps every packet."""
    def ports(self) -> str:
        """What has left each port in the machine that was started last, in JSON."""
    @property
    def packet_hops(self) -> int:
        """Packets that have crossed a link in it."""
    def captured(self) -> list[tuple[int, int, int, int, bytes]]:
        """Its packets since the last call: picosecond, port, sequence number, check, bytes."""

class Fabric:
    """A server's PCIe fabric, as its software has found and set it."""

    def __init__(
        self,
        system: str,
        designs: Sequence[Design],
        memory_bytes: int,
        memory: Mapping[str, int] = {},
        capture: bool = False,
    ) -> None:
        """Builds the fabric that `system`, in JSON, describes; `capture` keeps every packet."""
    @property
    def found(self) -> str:
        """The cards with their numbers and windows, in JSON."""
    @property
    def bridges(self) -> str:
        """The bridges in front of the cards, with their buses and windows, in JSON."""
    def bench(
        self,
        test: str,
        size: int,
        by: int,
        to: int | None,
        count: int,
        outstanding: int,
        interval: int,
        copy: int,
        warm: bool,
        beside: tuple[int, int, int] | None = None,
    ) -> str:
        """Makes a test by the card of one number, to that of another; gives its row in JSON.

        `beside` is the number of a card that reads meanwhile, the bytes of its requests, and how many it has
        under way.
        """
    def call(self, card: int, writes: Sequence[tuple[int, int]], flag: int) -> str:
        """Has the host write registers of the unit on a card, and wait for the word at `flag`.

        `writes` are offsets and values. Gives in JSON how long it took, and what became of the card's reads.
        """
    def write_memory(self, address: int, data: bytes, warm: bool = False) -> None:
        """Writes the host's memory, at no cost; with `warm`, its last-level cache holds the data then."""
    def read_memory(self, address: int, length: int) -> bytes:
        """Reads the host's memory."""
    def ports(self) -> str:
        """What has left each port, in JSON."""
    def counters(self) -> dict[str, int]:
        """What has gone wrong, and the events of the cards."""
    @property
    def packet_hops(self) -> int:
        """Packets that have crossed a link."""
    @property
    def digest(self) -> str:
        """Digest over every packet that has crossed a link."""
    @property
    def is_quiet(self) -> bool:
        """Whether nothing is under way and all credits are back."""
    def captured(self) -> list[tuple[int, int, int, int, bytes]]:
        """Packets since the last call: picosecond, port, sequence number, check, bytes."""

def packet_fields(packet: bytes) -> str:
    """The fields of a packet of the transaction layer, in JSON. Raises `EngineError` for what is none."""

class Guest:
    """A machine that boots Linux: harts, memory and devices, fresh from reset."""

    def __init__(
        self,
        firmware: bytes,
        kernel: bytes,
        files: bytes,
        command_line: str,
        cpu: str = "functional",
        harts: int = 1,
        memory_bytes: int = 1 << 31,
        seed: int = 1,
        vector: bool = False,
        disk: Path | None = None,
        observer: Observer | None = None,
        units: Sequence[tuple[Design, str]] = (),
        nic: Design | None = None,
        memory: Mapping[str, int] = ...,
        core: Mapping[str, int] = ...,
        fabric: AttachedFabric | None = None,
        aia: bool = False,
        chip: ChipMesh | None = None,
    ) -> None:
        """`firmware` is OpenSBI's fw_dynamic, `kernel` an uncompressed image, `files` an initial file system.

        `seed` is what random numbers start from. With `vector`, harts have vector units.
        `disk` is a file with the content of a disk; it stays so.
        `observer` looks at the harts; what it saw is there when the guest is gone. `units`, which must
        translate addresses, are beside each hart. With `nic`, elaborated with virtio=1, it has that card,
        which is joined to the sockets of this host: runs then are not repeatable. `fabric` is behind the PCI
        host bridge. With `aia`, its interrupt controllers are those of the Advanced Interrupt Architecture.
        Accesses to memory cross the mesh `chip`, of a machine without `nic` and `fabric`.
        """

    @staticmethod
    def restore(
        path: Path,
        cpu: str = "functional",
        disk: Path | None = None,
        observer: Observer | None = None,
        kernel: bytes | None = None,
        files: bytes | None = None,
        units: Sequence[tuple[Design, str]] = (),
        nic: Design | None = None,
        memory: Mapping[str, int] = ...,
        core: Mapping[str, int] = ...,
        fabric: AttachedFabric | None = None,
        chip: ChipMesh | None = None,
    ) -> Guest:
        """A machine that goes on from a checkpoint: it is ready. An observer needs what was booted.

        A `nic` is a card that was plugged in meanwhile. `fabric` is the one that it had. `chip` is as above;
        the machine need not have had it.
        """

    def save(self, path: Path) -> None:
        """Writes a checkpoint of a guest that is ready; its harts must be functional."""

    def run(self, cycles: int) -> tuple[str, int | None]:
        """Runs for up to so many cycles: "running", "ready", "idle", or "off" with a status."""

    def request_console(self) -> None:
        """Asks a guest that is ready for a shell on its console."""

    def request_prepare(self, command: bytes) -> None:
        """Asks a guest that is ready to run a command of the shell, after which it is ready again."""

    def request_run(self, command: bytes) -> None:
        """Asks a guest that is ready to run a command of the shell, and to switch itself off."""

    def send(self, typed: bytes) -> None:
        """Types on the console."""

    def output(self, port: int, skip: int = 0) -> bytes:
        """What came out of serial port 0, 2 or 3, without the first `skip` bytes."""

    @property
    def harts(self) -> int:
        """How many harts it has."""
    @property
    def cycles(self) -> int:
        """Now."""
    @property
    def instructions(self) -> int:
        """Instructions executed, of all harts."""
    @property
    def clock_hz(self) -> int:
        """Frequency of the harts' clock."""
    @property
    def unit_counters(self) -> dict[str, int]:
        """Counts of the events of units, by "unit.event"."""

    @property
    def digest(self) -> str:
        """Of the run so far."""

class Observer:
    """Observes the harts of one run."""

    def __init__(
        self,
        every: int,
        samples: int = ...,
        counters: Sequence[str] = ...,
        harts: Sequence[int] = ...,
        begin: str | None = None,
        end: str | None = None,
        trace: Path | None = None,
    ) -> None:
        """Counters are looked at every so many cycles, of which so many samples are kept of each hart.

        Without `counters` and `harts`, there are all of them. `begin` and `end` are triggers
        (engine/crates/core/trace/src/trigger.rs). What is executed is written to the file `trace`
        (docs/trace.md).
        """

    def profile(self) -> str:
        """What was seen and the clock, as JSON, once (engine/crates/core/trace/src/profile.rs)."""

    def samples(self) -> list[bytes]:
        """The looks at the counters of each hart, once the profile was made.

        64-bit numbers: cycle, instructions, then the counters that the profile names; look by look.
        """

class Server:
    """Cores, their caches and memory, and the units beside each."""

    def __init__(
        self,
        cpu: str = "rocket",
        harts: int = 1,
        guest_bytes: int = 1 << 33,
        units: Sequence[tuple[Design, str]] = (),
        skip_idle: bool = True,
        check_idle: bool = False,
        waves: str | None = None,
        memory: Mapping[str, int] = ...,
        core: Mapping[str, int] = ...,
        fabric: AttachedFabric | None = None,
        rtl: RocketDesign | None = None,
        chip: ChipMesh | None = None,
    ) -> None:
        """`cpu` is "functional", "rocket" or "boom"; `rtl` replaces that model for bare metal.

        Accesses to memory cross the mesh `chip`.

        `units` are designs, each with its placement; `memory` and `core` are numbers by name. A bare-metal
        program has `fabric` behind a PCI host bridge.
        """

    def run(
        self,
        program: str,
        arguments: Sequence[str] = (),
        environment: Sequence[str] = (),
        stdin: bytes | None = b"",
        write_folder: str | None = None,
        echo: bool = False,
        max_cycles: int = 0,
        progress: Callable[[int, int], None] | None = None,
        notice: Callable[[str], None] | None = None,
        observer: Observer | None = None,
    ) -> ServerResult:
        """Runs a program to its exit; raises `EngineError` when `max_cycles` (0: no limit) pass before.

        `progress` gets instructions and cycles about five times per second. `echo` passes the program's
        output on as it comes. Without `stdin` the program reads this process's standard input. `notice`
        gets a sentence when the program waits for a unit in which nothing moves. `observer` looks at the
        hart, which changes neither result nor digest.
        """

class Cluster:
    """A network of servers and switches, built from a description in JSON."""

    def __init__(
        self,
        description: str,
        designs: Mapping[str, Design] = ...,
        share: tuple[int, Sequence[int]] | None = None,
        observers: Mapping[str, Observer] = ...,
    ) -> None:
        """With hardware units by name: all nodes, or the share of a rank, given by where shares begin.

        The harts of servers with `observers` are observed; what they saw is there when the cluster is gone.

        Raises `EngineError`, which names the nodes or ends concerned.
        """

    def set_threads(self, threads: int) -> None: ...
    def set_window(self, cycles: int) -> None: ...
    def set_skip_idle(self, skip_idle: bool) -> None: ...
    def capture(self, ports: list[str], path: str) -> None:
        """Captures ports, written like `tor0.port3`, into a pcapng file; see `finish`."""

    def run(self, until: int) -> bool:
        """Advances to a cycle; tells whether anything is left to happen after it."""

    def run_share(self, until: int, exchange: Callable[[list[bytes]], list[bytes]]) -> bool:
        """Advances this rank's share to a cycle; tells whether anything is left to happen in it.

        After every window `exchange` gets bytes for each rank, in order, and returns what each has for this.
        """

    def client(self, name: str) -> str:
        """What a client has sent and met so far, as JSON; times are in cycles."""

    def save(self, path: str) -> bool:
        """Adds the state of all nodes and links to the end of a file; tells whether that is possible now.

        Raises `EngineError` with the first node whose state cannot be saved.
        """

    def restore(self, path: str, skipped: int) -> None:
        """Continues from the state that `save` has written, behind the first `skipped` bytes of the file.

        The cluster must have the same description. Raises `EngineError` for a damaged file.
        """

    def costs(self) -> list[int]:
        """About how many nanoseconds each node has taken so far."""

    def part_report(self) -> str:
        """What has happened so far in this rank's share, for `assemble`."""

    @staticmethod
    def assemble(cycles: int, clock_hz: int, parts: Sequence[str]) -> str:
        """What has happened in all shares, as `report`, from what each rank reports."""

    @staticmethod
    def equal_shares(costs: Sequence[int], shares: int) -> list[int]:
        """Where so many shares of nodes with these costs begin, and the number of nodes."""

    def end_with(self, servers: list[str]) -> None:
        """Ends runs when the programs of all these servers have ended."""

    @property
    def has_ended(self) -> bool:
        """Whether all of them have."""

    def counters(self, port: str) -> tuple[int, int, int]:
        """Bytes received and sent, and frames dropped, at a port so far."""

    def keep_stamps(self, server: str) -> None:
        """Keeps from now on when the hart, the NIC and the link of a server do something to each other."""

    def stamps(self, server: str) -> list[tuple[str, int, bool, int, int | None]]:
        """What was kept, in the order of each clock.

        The event; its cycle; whether that is one of the hart's clock, else of the network's; the instructions
        executed; the offset of the register that it is about.
        """

    def finish(self) -> None:
        """Ends the capture, if there is one."""

    @property
    def cycle(self) -> int: ...
    def report(self) -> str:
        """What has happened so far, in JSON."""

class RocketDesign:
    """The Rocket core in RTL, compiled."""

    def __init__(self, toolchain: Toolchain, verilog: str, harts: int) -> None:
        """Compiles the Verilog of `pythondata-cpu-rocket` for 1 to 4 harts, or takes it from the cache."""

class Loadtest:
    """A load on services of UDP that is under way; it ends early when it is dropped."""

    def __init__(self, plan: str) -> None:
        """Begins with a plan in JSON (engine/crates/live/loadtest/src/plan.rs)."""

    @property
    def sent(self) -> int:
        """Requests sent so far."""

    def stop(self) -> None:
        """Ends it: nothing more is sent, and no answer awaited."""

    def wait(self, seconds: float) -> bool:
        """Waits for the end, but not longer than so many seconds; whether it has come."""

    def report(self) -> str:
        """What became of it, in JSON, once; raises `EngineError` when it could not be done."""

class WorkService:
    """Services that work as long as they are asked to, until this is stopped or dropped."""

    def __init__(self, plan: str) -> None:
        """Begins with a plan in JSON (engine/crates/live/loadtest/src/service.rs)."""

    @property
    def addresses(self) -> list[str]:
        """Where they listen, ports that were free included."""
    @property
    def counts(self) -> tuple[int, int]:
        """Requests answered, and datagrams that were none, so far."""
    @property
    def is_well(self) -> bool:
        """Whether all workers are at work."""

    def stop(self) -> None:
        """Ends them."""

class Balancer:
    """A dispatcher on real sockets, at work until it is stopped or dropped."""

    def __init__(self, settings: str) -> None:
        """Listens and begins, with settings in JSON (engine/crates/live/balancer/src/settings.rs)."""

    @property
    def addresses(self) -> list[str]:
        """Where the services are listened for, in the order of the settings."""
    @property
    def is_well(self) -> bool:
        """Whether all threads are at work."""

    def status(self) -> str:
        """What it knows and has done, in JSON (engine/crates/live/balancer/src/status.rs)."""

    def reload(self, settings: str) -> tuple[int, int]:
        """Makes its replicas those of these settings; how many were added and removed."""

    def stop(self, patience_seconds: float) -> bool:
        """Answers what is under way, and ends; whether nothing was under way any more."""

    @staticmethod
    def replay(record: str) -> str:
        """Tells a dispatcher without sockets of the events in a file; what it found, in JSON.

        engine/crates/live/balancer/src/ledger.rs has the keys. Raises `EngineError` unless it decides what
        was decided then, and counts what follows from that.
        """

def memory_parameters() -> list[tuple[str, int, int, int]]:
    """The numbers of caches and DRAM: name, default, the least and the most."""

def check_parameters(cpu: str, memory: Mapping[str, int], core: Mapping[str, int]) -> None:
    """Raises `EngineError` for a name that there is not and a number that cannot be."""

def core_parameters(cpu: str) -> list[tuple[str, int, int, int]]:
    """The same of harts of a model; none of one that has none."""

def exercise_daronpon(design: Design, seed: int, frames: int) -> dict[str, int]:
    """Gives the dispatcher in RTL and the policy crate the same frames; what both have counted.

    `sent` frames left, the same from both. Raises `EngineError` with the first frame after which they differ.
    """

def measure_mesh(
    *,
    width: int,
    height: int,
    routing: str,
    depth: int,
    stages: int,
    rate: float,
    flits: int,
    seed: int,
    warm_up: int,
    measured: int,
    patience: int,
    design: Design | None = None,
) -> MeshMeasured:
    """Gives a mesh random packets: the one in RTL of `design`, or the model.

    Raises `EngineError` for a mesh or a rate that there is not, and when an assertion of the RTL fails.
    """

def pace_daronpon(design: Design, frames: int) -> float:
    """Cycles for each frame of 64 bytes when they come back to back: requests and their answers, in turn."""

def drx_isa() -> str:
    """The table of the encoding of DRX, in JSON."""

def drx_model(
    *,
    lanes: int,
    scratchpad_kib: int,
    banks: int,
    instruction_kib: int,
    loop_depth: int,
    port_bytes: int = 32,
    outstanding: int = 64,
    command_queue: int = 4,
) -> Design:
    """The model of DRX with these parameters of the hardware, as a design that does what the RTL does.

    Raises `EngineError` for parameters that the hardware can't be built with.
    """
