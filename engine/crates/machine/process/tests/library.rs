//! A program that uses the C and C++ libraries prints the same here and on QEMU.

#[path = "../../../core/cpu/tests/all/support/mod.rs"]
mod support;

#[test]
fn libraries_work_as_on_qemu() {
    let folder = tempfile::tempdir().unwrap();
    let source = support::sources().join("library.cpp");
    for optimisation in ["-O0", "-O3"] {
        let elf = support::build(
            folder.path(),
            "library",
            "riscv64-linux-gnu-g++",
            &["-static", optimisation],
            &[&source],
        );
        let (here, there) = (support::run_here(&elf), support::run_on_qemu(&elf));
        assert_eq!(
            String::from_utf8_lossy(&here.output),
            String::from_utf8_lossy(&there.output)
        );
        assert_eq!((here.status, there.status), (42, 42));
    }
}
