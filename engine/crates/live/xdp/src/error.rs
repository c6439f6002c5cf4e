use std::io;

/// Why an interface cannot be used with AF_XDP.
#[derive(Debug, thiserror::Error)]
pub enum XdpError {
    /// A name that no interface of this network namespace has.
    #[error("{0}: there is no such interface")]
    Unknown(String),
    /// Loopback, tunnels and the like.
    #[error("{0}: it is no Ethernet interface")]
    NotEthernet(String),
    /// The kernel was built without AF_XDP.
    #[error("this kernel has no AF_XDP")]
    NoAfXdp,
    /// The kernel was built without BPF.
    #[error("this kernel has no BPF, or one from before Linux 5.9")]
    NoBpf,
    /// Not allowed.
    #[error("{what}: not permitted; it needs the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW")]
    NotPermitted {
        /// What was tried.
        what: &'static str,
    },
    /// Another program is attached.
    #[error("{0}: a program is attached there already")]
    Occupied(String),
    /// Another socket is bound to the queue.
    #[error("{interface}: another socket of AF_XDP has queue {queue} already")]
    QueueTaken {
        /// The interface.
        interface: String,
        /// The number of the queue.
        queue: u32,
    },
    /// The locked memory of the process is limited to less than is needed.
    #[error("{bytes} bytes cannot be locked in memory; `ulimit -l` is too low, or CAP_IPC_LOCK is missing")]
    MemoryLimit {
        /// The requested number of bytes.
        bytes: usize,
    },
    /// Anything else.
    #[error("{what}: {error}")]
    Kernel {
        /// What was tried.
        what: &'static str,
        /// The error of the kernel.
        error: io::Error,
    },
}

impl XdpError {
    /// The error of the kernel for the operation `what`.
    pub(crate) fn of(what: &'static str, error: io::Error) -> XdpError {
        match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => XdpError::NotPermitted { what },
            _ => XdpError::Kernel { what, error },
        }
    }
}
