//! Info objects: hints as keys with values. (MPI 4.1 §10)

use std::collections::BTreeMap;
use std::env;
use std::sync::OnceLock;

use motet_fabric::printable;

use crate::base::error::{ErrorKind, Result};

/// The most bytes of a key, and one for the end that C needs. (`MPI_MAX_INFO_KEY`)
pub const MAX_INFO_KEY: usize = 256;
/// The most bytes of a value, and one for the end that C needs. (`MPI_MAX_INFO_VAL`)
pub const MAX_INFO_VALUE: usize = 1024;

/// The hint that the reductions of a communicator, or a persistent one, have the same bits wherever
/// and however they run, with the value `true`, or need not, with `false`; see
/// [`Communicator::set_info`](crate::Communicator::set_info).
pub const DETERMINISTIC: &str = "deterministic";

/// The hint that an init is collective, with the value `true`: no rank leaves it before all have
/// entered. The ranks compare their calls, and a mismatch is an error that names two ranks; then
/// they measure the algorithms that can carry out the call, on memory of their own, and agree on
/// the fastest. The default stays unless another one is better by more than 5 %. Without the hint
/// an init is local: it waits for no rank. (2008 proposal §2.3)
///
/// ```
/// use motet::{ENFORCE, Info, Sum};
///
/// motet::threads(2, |world| {
///     let info = Info::new().with(ENFORCE, "true");
///     let sum = world.allreduce_init(vec![1], Sum, &info)?;
///     assert!(sum.explain().contains("measured"));
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
pub const ENFORCE: &str = "enforce";
/// The hint that the ranks compute while the operation is pending: the library prefers an algorithm
/// with fewer rounds, since in each round a rank must call the library. Together with [`BLOCKING`]
/// it has no effect. (2008 proposal §2.3)
pub const NONBLOCKING: &str = "nonblocking";
/// The hint that the ranks wait for the operation and do nothing else: no preference for overlap,
/// as without hints. (2008 proposal §2.3)
pub const BLOCKING: &str = "blocking";
/// The hint that a later init will be like this one: the cache keeps the plan and, with
/// [`ENFORCE`], the measurement of this one in preference to others. (2008 proposal §2.3)
pub const REUSE: &str = "reuse";
/// The hint that an earlier init with [`REUSE`] was like this one: this one reuses its plan and its
/// measurement, also if it was for other buffers, or before the communicator was duplicated. If
/// there is none, that is no error. The channels of an operation that finds its plan are opened by
/// its first start, not by its init. (2008 proposal §2.3)
pub const PREVIOUS: &str = "previous";

/// Why a hint is invalid or missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InfoError {
    /// A key that is empty or too long. (`MPI_ERR_INFO_KEY`)
    #[error("the key has {len} bytes, but must have 1 to {}", MAX_INFO_KEY - 1)]
    Key {
        /// Its length in bytes.
        len: usize,
    },
    /// A value that is too long. (`MPI_ERR_INFO_VALUE`)
    #[error(
        "the value of {} has {len} bytes, but may have at most {}",
        printable(key),
        MAX_INFO_VALUE - 1
    )]
    Value {
        /// The key.
        key: String,
        /// The length of the value in bytes.
        len: usize,
    },
    /// There is no such key. (`MPI_ERR_INFO_NOKEY`)
    #[error("there is no hint with the key {}", printable(key))]
    NoKey {
        /// The key.
        key: String,
    },
}

/// Hints, as keys with values. Unknown keys are ignored. Hints never change results, but for the
/// rounding of reductions ([`DETERMINISTIC`]). A copy is made by `clone`. (MPI 4.1 §10,
/// `MPI_Info_dup`)
///
/// ```
/// let mut info = motet::Info::new().with("reuse", "true");
/// info.set("enforce", "false")?;
/// assert!(info.keys().eq(["enforce", "reuse"]));
/// info.delete("reuse")?;
/// assert_eq!((info.get("enforce"), info.get("reuse")), (Some("false"), None));
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(BTreeMap<String, String>);

impl Info {
    /// No hints. (`MPI_Info_create`)
    pub fn new() -> Info {
        Info::default()
    }

    /// The value of a hint that is `true` or `false`; `None` for any other value.
    pub(crate) fn says(&self, key: &str) -> Option<bool> {
        self.get(key)?.parse().ok()
    }

    /// How this process was started: its `command`, its arguments (`argv`), the processor
    /// architecture (`arch`) and the working directory (`wdir`). An unknown or too long value is
    /// left out, and so is one that was not requested at the start, as a level of thread support.
    /// All calls return the same. (`MPI_INFO_ENV`, MPI 5.0 §11.2.1)
    pub fn environment() -> Info {
        static AT_START: OnceLock<Info> = OnceLock::new();
        AT_START.get_or_init(Info::of_start).clone()
    }

    fn of_start() -> Info {
        let mut info = Info::new();
        let mut words = env::args_os().map(|word| word.to_string_lossy().into_owned());
        let command = words.next();
        let arguments: Vec<String> = words.collect();
        let directory = env::current_dir().ok();
        let directory = directory.map(|path| path.to_string_lossy().into_owned());
        let known = [
            ("command", command),
            ("argv", (!arguments.is_empty()).then(|| arguments.join(" "))),
            ("arch", Some(env::consts::ARCH.to_owned())),
            ("wdir", directory),
        ];
        for (key, value) in known {
            // A value that is too long is refused, and so left out.
            let _ = value.map(|value| info.set(key, value));
        }
        info
    }

    /// The same hints and one more; an existing key gets the new value.
    ///
    /// # Panics
    /// If [`set`](Info::set) refuses the key or the value.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Info {
        if let Err(error) = self.set(key, value) {
            panic!("{error}");
        }
        self
    }

    /// Sets the value of a key. (`MPI_Info_set`)
    ///
    /// # Errors
    /// A key that is empty, or a key or a value that is longer than the standard allows.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> Result<()> {
        self.insert(key.into(), value.into())
    }

    fn insert(&mut self, key: String, value: String) -> Result<()> {
        if key.is_empty() || key.len() >= MAX_INFO_KEY {
            return Err(InfoError::Key { len: key.len() }.into());
        }
        if value.len() >= MAX_INFO_VALUE {
            return Err(InfoError::Value { key, len: value.len() }.into());
        }
        self.0.insert(key, value);
        Ok(())
    }

    /// The value of a key. (`MPI_Info_get_string`)
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Deletes a key. (`MPI_Info_delete`)
    ///
    /// # Errors
    /// There is no such key.
    pub fn delete(&mut self, key: &str) -> Result<()> {
        match self.0.remove(key) {
            Some(_) => Ok(()),
            None => Err(InfoError::NoKey { key: key.to_owned() }.into()),
        }
    }

    /// Number of keys. (`MPI_Info_get_nkeys`)
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no hints.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys, in an order that only changes when keys come or go.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The key with this number, below [`len`](Info::len). (`MPI_Info_get_nthkey`)
    ///
    /// # Errors
    /// There are not so many keys.
    pub fn nth_key(&self, number: usize) -> Result<&str> {
        self.keys().nth(number).ok_or_else(|| {
            let problem = format!("is {number}, but there are {} keys", self.len());
            ErrorKind::Argument { which: "number of the key", problem }.into()
        })
    }

    /// Sets all hints of another object.
    pub(crate) fn update(&mut self, other: &Info) {
        self.0.extend(other.0.clone());
    }
}
