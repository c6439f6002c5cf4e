"""Runs the programs of `programs.toml` on QEMU and by Rackwright, and writes `programs.csv`.

    validation/programs/compare.py [--folder FOLDER] [NAME…]

Needs Debian's `apt-get`, `go`, `cargo`, a cross compiler for RISC-V, `qemu-riscv64`, and an engine that is
built; for Rust the target `riscv64gc-unknown-linux-gnu`, of `rustup` or of the compiler that `RUSTC` names.
Sources and programs are kept in the folder; none of them belongs into the repository.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TABLE = HERE / "programs.csv"
COLUMNS = ("name", "language", "from", "version", "verdict", "status", "instructions", "output_sha256")
SECONDS = 600
"""The longest that a program runs."""


@dataclass(frozen=True)
class Program:
    """A program that was made: its file, and which version of what it is."""

    path: Path
    origin: str
    version: str


@dataclass(frozen=True)
class Outcome:
    """What a program printed, its exit status, and a sentence about the run."""

    output: bytes
    status: int
    said: str


class BuildError(Exception):
    """A program cannot be made: the command, and the end of what it printed."""


class Archive:
    """Packages of Debian for riscv64, by a configuration of apt that nothing else uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        sources = folder / "sources.list"
        address = _mirror()
        sources.write_text(f"deb [arch=riscv64] {address} stable main\ndeb-src {address} stable main\n")
        settings = {
            "Dir::State": folder / "state",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "-",
            "APT::Architecture": "riscv64",
            "APT::Architectures": "riscv64",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
        }
        configuration = folder / "configuration"
        configuration.write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()))
        self._environment = {**os.environ, "APT_CONFIG": str(configuration)}
        self._run("apt-get", "update", "-qq")

    def _run(self, *command: str, folder: Path | None = None) -> str:
        result = subprocess.run(
            command, cwd=folder, env=self._environment, check=True, capture_output=True, text=True
        )
        return result.stdout

    def binary(self, package: str) -> tuple[Path, str]:
        """The files of a package, unpacked, and its version."""
        target = self.folder / "binaries" / package
        if not target.exists():
            target.mkdir(parents=True)
            self._run("apt-get", "download", "-qq", package, folder=self.folder)
            [file] = self.folder.glob(f"{package}_*.deb")
            self._run("dpkg-deb", "-x", str(file), str(target))
        [file] = self.folder.glob(f"{package}_*.deb")
        return target, file.name.split("_")[1].replace("%3a", ":")

    def source(self, package: str) -> tuple[Path, str]:
        """The source of a package, unpacked, and its version."""
        target = self.folder / "sources" / package
        if not target.exists():
            target.mkdir(parents=True)
            self._run("apt-get", "source", "-qq", package, folder=target)
        [folder] = [entry for entry in target.iterdir() if entry.is_dir()]
        [description] = target.glob("*.dsc")
        return folder, description.stem.split("_", 1)[1]


def _mirror() -> str:
    """Where this machine has its packages of Debian from."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return next(address for address in found if address.rstrip("/").endswith("/debian"))


def make(entry: dict[str, Any], folder: Path, archive: Archive) -> Program:
    """Makes a program, or finds the one that was made before."""
    name = str(entry["name"])
    out = folder / "made" / name.replace(" ", "-").replace("/", "-")
    out.parent.mkdir(exist_ok=True)
    if "package" in entry:
        unpacked, version = archive.binary(str(entry["package"]))
        return Program(unpacked / str(entry["file"]), f"Debian, {entry['package']}", version)
    if "source" in entry:
        source, version = archive.source(str(entry["source"]))
        if not out.exists():
            tools = {"CC": "riscv64-linux-gnu-gcc", "CXX": "riscv64-linux-gnu-g++", "OUT": str(out)}
            for other in entry.get("with", []):
                tools[str(other).upper()] = str(archive.source(str(other))[0])
            for command in entry["build"]:
                _build(["sh", "-ec", command], source, tools)
        return Program(out, f"Debian's source, {entry['source']}", version)
    if "crate" in entry:
        return _make_rust(str(entry["crate"]), str(entry["file"]), folder)
    return _make_go(entry, folder, out)


def _make_rust(crate: str, file: str, folder: Path) -> Program:
    target = "riscv64gc-unknown-linux-gnu"
    variable = f"CARGO_TARGET_{target.upper().replace('-', '_')}"
    tools = {
        f"{variable}_LINKER": "riscv64-linux-gnu-gcc",
        f"{variable}_RUSTFLAGS": "-C target-feature=+crt-static -C relocation-model=static",
        "CARGO_TARGET_DIR": str(folder / "rust"),
        "CARGO_PROFILE_RELEASE_LTO": "off",
    }
    out = folder / "crates" / "bin" / file
    if not out.exists():
        root = str(folder / "crates")
        _build(["cargo", "install", "--locked", "--target", target, "--root", root, crate], folder, tools)
    name, version = crate.split("@")
    return Program(out, f"Rust, {name}", version)


def _make_go(entry: dict[str, Any], folder: Path, out: Path) -> Program:
    module = folder / "module"
    tools = {"GOOS": "linux", "GOARCH": "riscv64", "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
    if not module.exists():
        module.mkdir()
        _build(["go", "mod", "init", "programs"], module, tools)
    package = str(entry.get("go") or entry["test"])
    is_of_go = "." not in package.split("/")[0]
    if not out.exists():
        if not is_of_go:
            _build(["go", "get", package], module, tools)
        verb = ["build"] if "go" in entry else ["test", "-c"]
        _build(["go", *verb, "-o", str(out), package], module, tools)
    form = "{{.Module.Version}}" if not is_of_go else "{{.Goroot}}"
    version = _build(["go", "list", "-f", form, package], module, tools).strip()
    if is_of_go:
        version = _build(["go", "env", "GOVERSION"], module, tools).strip()
    return Program(out, f"Go, {package}{'' if 'go' in entry else ', its tests'}", version)


def _build(command: list[str], folder: Path, tools: dict[str, str]) -> str:
    environment = {**os.environ, **tools}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    if result.returncode != 0:
        raise BuildError(f"{' '.join(command)}: {result.stderr.decode(errors='replace')[-2000:]}")
    return result.stdout.decode(errors="replace")


def lay_inputs(description: dict[str, Any], folder: Path) -> None:
    """Writes the files that programs read, the same for each run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in description["inputs"].items():
        (folder / name).write_text(text.replace("\\n", "\n") if name.endswith(".star") else text + "\n")
    count = description["generated"]["words"]
    lines = (f"{i * 7919 % 4001} word{i * 104729 % 997}: {i * i % 10007}\n" for i in range(count))
    (folder / "words").write_text("".join(lines))


def run_on_qemu(program: Program, arguments: list[str], folder: Path, given: bytes) -> Outcome:
    """Runs a program on QEMU's user mode."""
    command = ["/usr/bin/env", "-i", shutil.which("qemu-riscv64") or "qemu-riscv64"]
    # Its name as it is told by Rackwright: without folders.
    command += ["-0", program.path.name, str(program.path), *arguments]
    result = subprocess.run(command, cwd=folder, input=given, capture_output=True, timeout=SECONDS)
    return Outcome(result.stdout, result.returncode, "")


def run_here(program: Program, arguments: list[str], folder: Path, given: bytes) -> Outcome:
    """Runs a program by Rackwright, on two functional harts."""
    code = (
        "import sys; from pathlib import Path; from rackwright import Server\n"
        "r = Server('functional', harts=2).run(sys.argv[1], sys.argv[2:], write_folder=Path('.'),"
        " stdin=sys.stdin.buffer.read())\n"
        "sys.stdout.buffer.write(r.stdout)\n"
        "print(r.exit_code, r.instructions, *r.unknown_calls, file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code, str(program.path), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
    result = subprocess.run(
        command, cwd=folder, input=given, env=environment, capture_output=True, timeout=SECONDS
    )
    last = result.stderr.decode(errors="replace").strip().splitlines()[-1:]
    if result.returncode != 0 or not last:
        return Outcome(result.stdout, -1, " ".join(last))
    status, said = last[0].split(" ", 1)
    return Outcome(result.stdout, int(status), said)


def compare(
    entry: dict[str, Any], program: Program, description: dict[str, Any], folder: Path
) -> dict[str, str]:
    """The row of a program."""
    arguments = [str(argument) for argument in entry["run"]]
    outcomes = []
    for runner in (run_on_qemu, run_here):
        inputs = folder / "inputs"
        lay_inputs(description, inputs)
        given = (inputs / str(entry["input"])).read_bytes() if "input" in entry else b""
        outcomes.append(runner(program, arguments, inputs, given))
    there, here = outcomes
    in_order = sorted if entry.get("sorted") else list
    ignored = str(entry.get("ignored", "(?!)")).encode()
    outputs = [re.sub(ignored, b"", outcome.output) for outcome in outcomes]
    lines = [in_order(output.splitlines(keepends=True)) for output in outputs]
    same = lines[0] == lines[1] and there.status == here.status
    return {
        "name": entry["name"],
        "language": entry["language"],
        "from": program.origin,
        "version": program.version,
        "verdict": "same" if same else f"different: {here.status} {here.said}",
        "status": str(there.status),
        "instructions": here.said.split(" ")[0],
        "output_sha256": hashlib.sha256(b"".join(lines[0])).hexdigest()[:16],
    }


def write(names: list[str], rows: list[dict[str, str]]) -> None:
    """Puts rows into the table in the places of those of the same programs, and leaves the others."""
    known = {}
    if TABLE.exists():
        with TABLE.open(newline="") as file:
            known = {row["name"]: row for row in csv.DictReader(file)}
    known |= {row["name"]: row for row in rows}
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(known[name] for name in names if name in known)


def main() -> None:
    """Makes all programs or those that are named, compares them, and writes their rows of the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "out" / "programs")
    parser.add_argument("names", nargs="*", metavar="NAME")
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    description = tomllib.loads((HERE / "programs.toml").read_text())
    archive = Archive(folder)
    order = [str(entry["name"]) for entry in description["program"]]
    verdicts = []
    for entry in description["program"]:
        if chosen.names and entry["name"] not in chosen.names:
            continue
        try:
            row = compare(entry, make(entry, folder, archive), description, folder)
        except BuildError as error:
            print(entry["name"], f"not made: {error}", flush=True)
            verdicts.append("not made")
            continue
        print(row["name"], row["verdict"], f"status {row['status']}", row["instructions"], flush=True)
        verdicts.append(row["verdict"])
        # At once, so that an interrupted run keeps what it has compared.
        write(order, [row])
    print(f"{verdicts.count('same')} of {len(verdicts)} programs print what they do on QEMU")
    if set(verdicts) != {"same"}:
        sys.exit(1)


if __name__ == "__main__":
    main()
