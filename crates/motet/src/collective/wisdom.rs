//! Saves and merges the learned choices of all ranks by collectives: see [`crate::rank::wisdom`].

use std::path::Path;

use motet_plan::select::Wisdom;

use super::{CollectiveArgs, output};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::rank::wisdom::merge_into;

impl Communicator {
    /// Returns the choices that enforced inits of this rank have learned so far, on all
    /// communicators, as one line for each size and number of ranks. Equal lines for adjacent sizes
    /// are joined. Local. Irregular calls (gatherv, scatterv, alltoallv, exchanges) are not
    /// included, since ranks know too little of each other's sizes to recognize them.
    ///
    /// ```
    /// motet::threads(2, |world| {
    ///     let info = motet::Info::new().with(motet::hint::ENFORCE, "true");
    ///     let sum = world.allreduce_init(vec![1u64], motet::Sum, &info)?;
    ///     let expected = format!("allreduce ranks=2..2 bytes=8..8 -> {} #", sum.algorithm());
    ///     assert!(world.wisdom().starts_with(&expected));
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn wisdom(&self) -> String {
        self.core().wisdom_log().all.clone().joined().to_string()
    }

    /// Merges the learned choices of all ranks into a file, which need not exist. Collective; rank
    /// 0 determines the path. Several programs may save to one file at the same time.
    ///
    /// # Errors
    /// Rank 0 cannot read or write the file (error on all ranks); or a rank has died.
    #[track_caller]
    pub fn save_wisdom(&self, path: impl AsRef<Path>) -> Result<()> {
        const CALL: &str = "save_wisdom";
        let wisdom = self.wisdom_of_all(CALL)?;
        let saved = match self.rank() {
            0 => merge_into(path.as_ref(), &wisdom),
            _ => Ok(()),
        };
        let problem = saved.err().map(|error| format!("{}: {error}", path.as_ref().display()));
        let problem = self.text_of(CALL, 0, problem.as_deref().unwrap_or_default())?;
        if problem.is_empty() {
            return Ok(());
        }
        Err(self.error(CALL, ErrorKind::Argument { which: "file of the wisdom", problem }))
    }

    /// Merges the learned choices of all ranks, so that all use them: for later calls on this
    /// communicator, in any form, and on later duplicates of it. Collective.
    ///
    /// All ranks of a call must choose the same algorithm. After this call they have the same
    /// lines, and as a collective of the communicator it lies between the same two calls on all
    /// ranks; so each call uses the same lines on all ranks. Other communicators have their own
    /// order of calls, so this does not change them.
    ///
    /// # Errors
    /// A rank has died.
    #[track_caller]
    pub fn merge_wisdom(&self) -> Result<()> {
        let wisdom = self.wisdom_of_all("merge_wisdom")?;
        self.learned().take_wisdom(&wisdom);
        Ok(())
    }

    /// Returns the merged wisdom of all ranks, equal on all of them.
    #[track_caller]
    fn wisdom_of_all(&self, call: &'static str) -> Result<Wisdom> {
        let text = self.core().wisdom_log().to_tell.to_string();
        let (all, blocks) = self.tell_all_lists(call, text.into_bytes())?;
        let mut wisdom = Wisdom::default();
        // Lines of lower ranks take precedence.
        for block in blocks.iter().rev() {
            let text = String::from_utf8_lossy(&all[block.start..block.start + block.count]);
            wisdom.absorb(&Wisdom::read(&text).0);
        }
        Ok(wisdom)
    }

    /// Takes the wisdom of rank 0; the first call on a world.
    pub(crate) fn take_wisdom_of_first(&self, text: &str) -> Result<()> {
        const CALL: &str = "init";
        let mut length = [text.len() as u64];
        self.tell_from_first(CALL, &mut length)?;
        let mut bytes = vec![0; length[0] as usize];
        if self.rank() == 0 {
            bytes.copy_from_slice(text.as_bytes());
        }
        self.tell_from_first(CALL, &mut bytes)?;
        let (wisdom, _) = Wisdom::read(&String::from_utf8_lossy(&bytes));
        self.core().engine().cache().take_wisdom(wisdom);
        Ok(())
    }

    fn tell_from_first<T: crate::Element>(&self, call: &'static str, data: &mut [T]) -> Result<()> {
        let shape = CollectiveArgs::bcast(self, output(data), 0);
        self.blocking(self.prepare_own::<T>(call, shape, None)?)
    }
}
