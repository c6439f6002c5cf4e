use crate::interface::{Functions, StateFunctions, VERSION};
use crate::model::UnitModel;
use crate::{Manifest, RtlError};
use libloading::Library;
use rackwright_time::Clock;
use std::path::Path;
use std::sync::Arc;

/// A unit, compiled or as a model, ready to be instantiated any number of times.
#[derive(Clone)]
pub struct Design {
    pub(crate) form: Form,
    /// The description of the unit.
    pub manifest: Arc<Manifest>,
    /// Its clock beside a hart: that of the manifest, unless another one was selected.
    pub clock: Clock,
    /// The arguments for `$test$plusargs` and `$value$plusargs`, without their plus signs: `DEPTH=4`.
    pub plusargs: Vec<String>,
    /// Equal for designs compiled in the same way from the same sources: the name of the library in the cache; for a
    /// model, its parameters.
    pub key: String,
}

/// The implementation of a unit.
#[derive(Clone)]
pub(crate) enum Form {
    /// Its RTL.
    Compiled {
        functions: Arc<Functions>,
        /// Keeps their code mapped.
        _library: Arc<Library>,
    },
    /// A model, of which this function creates instances.
    Model(Arc<dyn Fn() -> Box<dyn UnitModel> + Send + Sync>),
}

impl Design {
    /// Loads the shared library that was compiled from the unit of `manifest`.
    ///
    /// # Errors
    /// [`RtlError::Load`] if it cannot be loaded or has another version.
    pub fn load(path: &Path, manifest: Manifest) -> Result<Design, RtlError> {
        let failed = |reason: String| RtlError::Load {
            path: path.to_path_buf(),
            reason,
        };
        // SAFETY: the library was compiled from this crate's host; it has no initialisers that
        // depend on the state of this process.
        let library = unsafe { Library::new(path) }.map_err(|error| failed(error.to_string()))?;
        let functions = functions(&library).map_err(failed)?;
        let form = Form::Compiled {
            functions: Arc::new(functions),
            _library: Arc::new(library),
        };
        let key = path.file_stem().unwrap_or_default().to_string_lossy();
        Design::of(form, manifest, key.into_owned()).map_err(failed)
    }

    /// The unit of `manifest` in the form of models that `make` makes; equal ones have an equal `key`.
    ///
    /// # Errors
    /// The error in its clock, if there is one.
    pub fn modelled(
        manifest: Manifest,
        key: String,
        make: impl Fn() -> Box<dyn UnitModel> + Send + Sync + 'static,
    ) -> Result<Design, String> {
        Design::of(Form::Model(Arc::new(make)), manifest, key)
    }

    fn of(form: Form, manifest: Manifest, key: String) -> Result<Design, String> {
        Ok(Design {
            form,
            clock: Clock::new(manifest.clock().hertz).map_err(|error| error.to_string())?,
            plusargs: Vec::new(),
            key,
            manifest: Arc::new(manifest),
        })
    }
}

fn functions(library: &Library) -> Result<Functions, String> {
    let version: unsafe extern "C" fn() -> u32 = symbol(library, "rackwright_version")?;
    // SAFETY: the function takes nothing and only returns a constant.
    let found = unsafe { version() };
    if found != VERSION {
        return Err(format!(
            "it has interface version {found}, the engine has {VERSION}"
        ));
    }
    Ok(Functions {
        create: symbol(library, "rackwright_create")?,
        destroy: symbol(library, "rackwright_destroy")?,
        clocking: symbol(library, "rackwright_clocking")?,
        command: symbol(library, "rackwright_command")?,
        register_access: symbol(library, "rackwright_register_access")?,
        flit: symbol(library, "rackwright_flit")?,
        respond: symbol(library, "rackwright_respond")?,
        step: symbol(library, "rackwright_step")?,
        record: symbol(library, "rackwright_record")?,
        recorded: symbol(library, "rackwright_recorded")?,
        replay: symbol(library, "rackwright_replay")?,
        state: match symbol(library, "rackwright_save") {
            Ok(save) => Some(StateFunctions {
                save,
                restore: symbol(library, "rackwright_restore")?,
            }),
            Err(_) => None,
        },
        event: symbol(library, "rackwright_event")?,
    })
}

fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: each caller names a function of `host/interface.h` with that function's type; the
    // version check guards against a library of another interface.
    unsafe { library.get::<T>(name.as_bytes()) }
        .map(|found| *found)
        .map_err(|error| error.to_string())
}
