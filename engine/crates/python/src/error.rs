use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::PyErr;
use std::fmt::Display;

create_exception!(
    rackwright._engine,
    EngineError,
    PyException,
    "The engine refuses; the message says why."
);

/// Any error of the engine as a Python exception with its message.
pub fn raise(error: impl Display) -> PyErr {
    EngineError::new_err(error.to_string())
}
