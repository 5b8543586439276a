//! Launcher detection: reads from the environment which launcher has started this process.

use std::ffi::OsString;
use std::os::fd::RawFd;

use super::CHOICE;
use super::settings::{CHOICES, Choice};
use crate::setting;
use crate::{Error, Result};

/// The interface of another library's launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DetectedLauncher {
    /// A socket to a server of PMI-1.
    First { descriptor: RawFd, rank: usize, ranks: usize },
    /// An address where a server of PMI-1 listens, and the id to send.
    FirstAtPort { place: String, id: String },
    /// A socket to a server of PMI-2.
    Second { descriptor: RawFd, rank: usize, job: Option<String> },
    /// A PMIx server, which the PMIx library finds by itself.
    Pmix,
}

impl DetectedLauncher {
    /// Finds the interface in the environment. `None` if there is no launcher, or one that has
    /// started this process alone and offers no interface.
    ///
    /// Where there are several interfaces, as within an allocation in which another launcher was
    /// started, a socket comes first: only the process that started this one can have opened it.
    ///
    /// # Errors
    /// A launcher has started this process as one of several, but offers no known interface.
    pub(super) fn find(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<DetectedLauncher>> {
        let text = |name: &str| variable(name).map(|text| text.to_string_lossy().into_owned());
        let choice = setting::read(CHOICE, variable(CHOICE), |text| CHOICES.parse(text))?;
        let offers = [pmi2(&text), pmi1(&text), port(&text), pmix(&text)];
        let mut offers = offers.into_iter().flatten();
        match choice {
            Some(Choice::Alone) => return Ok(None),
            None => {
                if let Some(offer) = offers.next() {
                    return Ok(Some(offer));
                }
            }
            Some(Choice::Interface(choice)) => {
                // If PMI-2 is asked for by name, it need not be recognised.
                let second = || second(&text).filter(|_| choice == "pmi2");
                let found = second().or_else(|| offers.find(|offer| offer.protocol() == choice));
                let wrong = || {
                    Error::Environment(format!(
                        "{CHOICE}={choice}, which it does not offer; unset {CHOICE}, or use a \
                         launcher with {choice}"
                    ))
                };
                return found.map(Some).ok_or_else(wrong);
            }
        }
        match several(&text) {
            Some(several) => Err(Error::Environment(refusal(&several))),
            None => Ok(None),
        }
    }

    fn protocol(&self) -> &'static str {
        match self {
            DetectedLauncher::First { .. } | DetectedLauncher::FirstAtPort { .. } => "pmi1",
            DetectedLauncher::Second { .. } => "pmi2",
            DetectedLauncher::Pmix => "pmix",
        }
    }
}

/// Reads a variable as text.
trait Variable: Fn(&str) -> Option<String> {
    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self(name)?.trim().parse().ok()
    }
}

impl<F: Fn(&str) -> Option<String>> Variable for F {}

fn pmi1(variable: &impl Variable) -> Option<DetectedLauncher> {
    let (rank, ranks) = (variable.number("PMI_RANK")?, variable.number("PMI_SIZE")?);
    let descriptor = variable.number("PMI_FD")?;
    (rank < ranks).then_some(DetectedLauncher::First { descriptor, rank, ranks })
}

/// Slurm names the job by a variable of PMI-2, which hydra does not set; but a hydra that runs
/// within a job of Slurm does not remove it. Hydra supports both, but its fences are reliable in
/// PMI-1 only.
fn pmi2(variable: &impl Variable) -> Option<DetectedLauncher> {
    let is_slurm = variable("PMI_JOBID").is_some() && variable("HYDI_CONTROL_FD").is_none();
    second(variable).filter(|_| is_slurm)
}

fn second(variable: &impl Variable) -> Option<DetectedLauncher> {
    let (descriptor, rank) = (variable.number("PMI_FD")?, variable.number("PMI_RANK")?);
    Some(DetectedLauncher::Second { descriptor, rank, job: variable("PMI_JOBID") })
}

fn port(variable: &impl Variable) -> Option<DetectedLauncher> {
    Some(DetectedLauncher::FirstAtPort { place: variable("PMI_PORT")?, id: variable("PMI_ID")? })
}

fn pmix(variable: &impl Variable) -> Option<DetectedLauncher> {
    let is_named = ["PMIX_NAMESPACE", "PMIX_RANK"].iter().all(|name| variable(name).is_some());
    is_named.then_some(DetectedLauncher::Pmix)
}

/// Launchers by name, with the variable of the rank and those of the number of ranks, of which the
/// first that is set counts.
const LAUNCHERS: [(&str, &str, &[&str]); 3] = [
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"]),
    ("a PMI launcher such as mpiexec", "PMI_RANK", &["PMI_SIZE"]),
    ("Slurm's srun", "SLURM_PROCID", &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]),
];

/// Whether a launcher has started this process as one of several.
///
/// Otherwise each process would run as a world of one, each with the whole work and the same output
/// files.
fn several(variable: &impl Variable) -> Option<Several> {
    LAUNCHERS.iter().find_map(|(launcher, rank, sizes)| {
        variable(rank)?;
        let (name, size) = sizes.iter().find_map(|name| Some((name, variable(name)?)))?;
        (size.trim() != "1").then_some(Several { launcher, name, size })
    })
}

/// One process of several: the launcher that started it, and the variable that shows it.
struct Several {
    launcher: &'static str,
    name: &'static str,
    size: String,
}

fn refusal(Several { launcher, name, size }: &Several) -> String {
    format!(
        "by {launcher} ({name}={size}), which offers no way to find the other ranks (neither \
         PMI_FD, nor PMI_PORT, nor PMIX_NAMESPACE is set): with Slurm, use `srun --mpi=pmi2` or \
         `srun --mpi=pmix`; on one machine, `motet run -n {size}`; or set {CHOICE}=alone to run \
         each process by itself"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&str, &str)]) -> std::result::Result<Option<DetectedLauncher>, String> {
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let variable = |name: &str| {
            pairs.iter().find(|(key, _)| key == name).map(|(_, value)| OsString::from(value))
        };
        DetectedLauncher::find(variable).map_err(|error| error.to_string())
    }

    const HYDRA: [(&str, &str); 4] =
        [("PMI_FD", "9"), ("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("HYDI_CONTROL_FD", "7")];

    #[test]
    fn each_launcher_is_known_by_what_it_sets() {
        let first = DetectedLauncher::First { descriptor: 9, rank: 1, ranks: 4 };
        assert_eq!(found(&HYDRA), Ok(Some(first.clone())));
        let slurm = [("PMI_FD", "5"), ("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("PMI_JOBID", "3.0")];
        let second = DetectedLauncher::Second { descriptor: 5, rank: 0, job: Some("3.0".into()) };
        assert_eq!(found(&slurm), Ok(Some(second)));
        let port = [("PMI_PORT", "vm:45415"), ("PMI_ID", "0")];
        let at_port = DetectedLauncher::FirstAtPort { place: "vm:45415".into(), id: "0".into() };
        assert_eq!(found(&port), Ok(Some(at_port)));
        let pmix = [("PMIX_NAMESPACE", "a@1"), ("PMIX_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "8")];
        assert_eq!(found(&pmix), Ok(Some(DetectedLauncher::Pmix)));
        // One launcher within the job of another: what it gives comes first.
        let within = [&HYDRA[..], &slurm[3..], &pmix].concat();
        assert_eq!(found(&within), Ok(Some(first)));
    }

    #[test]
    fn the_choice_of_the_user_comes_first() {
        let choose = |choice| found(&[&HYDRA[..], &[(CHOICE, choice)]].concat());
        assert_eq!(choose("alone"), Ok(None));
        assert!(matches!(choose("pmi1"), Ok(Some(DetectedLauncher::First { .. }))));
        assert!(matches!(
            choose("pmi2"),
            Ok(Some(DetectedLauncher::Second { rank: 1, job: None, .. }))
        ));
        assert!(choose("pmix").unwrap_err().contains("MOTET_BOOTSTRAP=pmix, which it does not"));
        assert!(choose("pmi3").unwrap_err().contains("expected `alone`, `pmi1`, `pmi2` or `pmix`"));
    }

    #[test]
    fn a_launcher_that_offers_nothing_is_refused_by_name() {
        let text = found(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]).unwrap_err();
        assert!(text.contains("Slurm's srun (SLURM_NTASKS=4)"), "{text}");
        assert!(text.contains("`motet run -n 4`"), "{text}");
        let text = found(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]).unwrap_err();
        assert!(text.contains("mpiexec (PMI_SIZE=2)"), "{text}");
        let open = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "8")];
        assert!(found(&open).unwrap_err().contains("`srun --mpi=pmix`"));
    }

    #[test]
    fn who_was_started_alone_may_be_alone() {
        assert_eq!(found(&[("PATH", "/bin")]), Ok(None));
        assert_eq!(found(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]), Ok(None));
        let step = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "1")];
        assert_eq!(found(&step), Ok(None));
        // Within an allocation, but not started by srun.
        assert_eq!(found(&[("SLURM_NTASKS", "4")]), Ok(None));
    }
}
