//! Parses the target of `motet plan`: a collective, or one of its algorithms.

use std::str::FromStr;

use motet_plan::select::Overrides;
use motet_plan::{Algorithm, Collective, algo};

/// A collective, and one of its algorithms if one is named.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) collective: Collective,
    /// The named algorithm; `None` leaves the choice to the selection.
    pub(crate) algorithm: Option<&'static dyn Algorithm>,
}

impl Target {
    /// The override for the selection, if an algorithm is named.
    pub(crate) fn overrides(&self) -> Option<Overrides> {
        let text = format!("{}={}", self.collective, self.algorithm?.name());
        Some(text.parse().expect("names of the table can be read"))
    }
}

impl FromStr for Target {
    type Err = String;

    /// Reads `allreduce` or `allreduce/ring`.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, algorithm)) = text.split_once('/') else {
            return Ok(Self { collective: collective(text)?, algorithm: None });
        };
        let collective = collective(name)?;
        match algo::find(collective, algorithm) {
            Some(algorithm) => Ok(Self { collective, algorithm: Some(algorithm) }),
            None => {
                let names: Vec<_> = algo::of(collective).map(Algorithm::name).collect();
                let names = names.join(", ");
                Err(format!("{collective} has no algorithm `{algorithm}`; it has {names}"))
            }
        }
    }
}

/// Parses the name of a collective.
pub(crate) fn collective(name: &str) -> Result<Collective, String> {
    Collective::from_name(name).ok_or_else(|| {
        let names = Collective::ALL.map(Collective::name).join(", ");
        format!("no collective `{name}`; there are {names}")
    })
}
