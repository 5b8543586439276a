//! How a world behaves where that is not left to the library.

use std::{env, fs};

use motet_fabric::Options;
use motet_plan::Tuning;

use crate::error::{Error, ErrorKind, Result};

/// The variable that names algorithms to be used, as in `allreduce=ring,bcast=binomial`.
pub const ALGORITHM: &str = "MOTET_ALGORITHM";
/// The variable that names a file of wisdom: lines that say which algorithm is best where.
pub const WISDOM: &str = "MOTET_WISDOM";
/// The variable that forbids (`off`) copying large messages straight between processes.
pub const SINGLE_COPY: &str = "MOTET_SINGLE_COPY";
/// The variable that forbids (`off`) channels for persistent operations.
pub const CHANNELS: &str = "MOTET_CHANNELS";

/// How a world behaves where that is not left to the library. Must be the same on all its ranks.
///
/// Results do not depend on it; it is for measurements and tests, and for what was learned from
/// them.
///
/// ```
/// use motet::{Info, Settings, Sum};
///
/// let settings = Settings::new().algorithms("allreduce=ring")?;
/// motet::threads_with(2, &settings, |world| {
///     let sum = world.allreduce_init(vec![1], Sum, &Info::new())?;
///     assert_eq!(sum.algorithm(), "ring");
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(crate) options: Options,
    pub(crate) tuning: Tuning,
}

impl Settings {
    /// Everything is left to the library.
    pub fn new() -> Settings {
        Settings::default()
    }

    /// What the environment says: [`ALGORITHM`], [`WISDOM`], [`SINGLE_COPY`], [`CHANNELS`].
    ///
    /// # Errors
    /// A variable that cannot be read as what it should be.
    pub fn from_environment() -> Result<Settings> {
        let mut settings = Settings::new();
        if let Ok(text) = env::var(ALGORITHM) {
            settings = settings.algorithms(&text)?;
        }
        if let Some(path) = env::var_os(WISDOM) {
            let text = fs::read_to_string(&path);
            settings = settings
                .wisdom(&text.map_err(|error| setting(WISDOM, format!("{path:?}: {error}")))?)?;
        }
        if !switch(SINGLE_COPY)? {
            settings = settings.without_single_copy();
        }
        if !switch(CHANNELS)? {
            settings = settings.without_channels();
        }
        Ok(settings)
    }

    /// Uses these algorithms, as in `allreduce=ring,bcast=binomial`.
    ///
    /// # Errors
    /// A text of another form, or a name that there is not.
    pub fn algorithms(mut self, text: &str) -> Result<Settings> {
        self.tuning.overrides = text.parse().map_err(|error| setting(ALGORITHM, error))?;
        Ok(self)
    }

    /// Uses this wisdom: lines that say which algorithm is best where.
    ///
    /// # Errors
    /// A line of another form.
    pub fn wisdom(mut self, text: &str) -> Result<Settings> {
        self.tuning.wisdom = text.parse().map_err(|error| setting(WISDOM, error))?;
        Ok(self)
    }

    /// Copies no large message straight from its sender's memory.
    #[must_use]
    pub fn without_single_copy(mut self) -> Settings {
        self.options.single_copy = false;
        self
    }

    /// Opens no channels for persistent operations.
    #[must_use]
    pub fn without_channels(mut self) -> Settings {
        self.options.channels = false;
        self
    }
}

/// Whether something is on: it is, unless the variable says `off`.
fn switch(variable: &'static str) -> Result<bool> {
    match env::var(variable).as_deref() {
        Err(_) | Ok("" | "on") => Ok(true),
        Ok("off") => Ok(false),
        Ok(other) => Err(setting(variable, format!("`{other}` is neither on nor off"))),
    }
}

fn setting(variable: &'static str, problem: impl ToString) -> Error {
    ErrorKind::Setting { variable, problem: problem.to_string() }.into()
}
