//! Empty: this package only pins third-party sources, see `Cargo.toml`.
