/// The reason why a machine cannot be prepared for booting.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The kernel is in no format that the firmware can start.
    #[error("the kernel is no Linux image for riscv64 (uncompressed, as `arch/riscv/boot/Image` is)")]
    NotKernel,
    /// The kernel's header describes more data than the file has, or has invalid sizes.
    #[error("the kernel image is damaged: its header does not fit its {bytes} bytes")]
    DamagedKernel {
        /// Bytes of the file.
        bytes: u64,
    },
    /// The firmware is too large to lie before the kernel, or empty.
    #[error("the firmware takes {bytes} bytes; between 1 and {most} are possible")]
    Firmware {
        /// Bytes of the file.
        bytes: u64,
        /// Room before the kernel.
        most: u64,
    },
    /// Memory is too small.
    #[error(
        "the machine has {memory} bytes of memory; kernel and initial file system need at least {needed}"
    )]
    Memory {
        /// Bytes of memory.
        memory: u64,
        /// What would do.
        needed: u64,
    },
    /// The device tree cannot be written.
    #[error("the device tree cannot be written: {0}")]
    DeviceTree(#[from] vm_fdt::Error),
    /// The device tree does not fit.
    #[error("the device tree takes {bytes} bytes; there is room for {room}")]
    DeviceTreeSize {
        /// Bytes of the tree.
        bytes: u64,
        /// Bytes for it.
        room: u64,
    },
    /// An address is outside of memory.
    #[error(transparent)]
    Fault(#[from] rackwright_memory::GuestFault),
}
