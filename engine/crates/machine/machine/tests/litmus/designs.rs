//! The designs in RTL of these tests, as `./rw test` has elaborated them; what tests of Python have compiled is taken from
//! its cache.

use rackwright_rtl::rocket::{RocketDesign, RocketSystem};
use rackwright_rtl::{BuildOptions, Cache, Design, Manifest, Toolchain};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub(super) static MESH: LazyLock<Design> = LazyLock::new(|| build(&from_environment("RACKWRIGHT_MESH")));
pub(super) static CROSSBAR: LazyLock<Design> =
    LazyLock::new(|| build(&from_environment("RACKWRIGHT_CROSSBAR")));
/// A fixture of the host's tests, which reads and writes memory.
pub(super) static BURSTS: LazyLock<Design> = LazyLock::new(|| {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl/rtl/tests/fixtures");
    build(&fixtures.join("bursts/manifest.json"))
});
/// One hart.
pub(super) static ROCKET: LazyLock<RocketDesign> = LazyLock::new(|| {
    let verilog = from_environment("RACKWRIGHT_ROCKET_VERILOG");
    toolchain()
        .build_rocket(RocketSystem::One, &verilog, &cache())
        .unwrap()
});

fn from_environment(name: &str) -> PathBuf {
    std::env::var_os(name)
        .unwrap_or_else(|| panic!("{name} is not set; run this through ./rw test"))
        .into()
}

fn toolchain() -> Toolchain {
    let root = from_environment("RACKWRIGHT_VERILATOR_ROOT");
    Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: from_environment("RACKWRIGHT_CXX"),
    }
}

fn cache() -> Cache {
    Cache::new(from_environment("RACKWRIGHT_DESIGNS"))
}

fn build(manifest: &Path) -> Design {
    let manifest = Manifest::read(manifest).unwrap();
    toolchain()
        .build(manifest, BuildOptions::default(), &cache())
        .unwrap()
}
