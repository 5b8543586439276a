//! What ranks have learned, brought together by collectives: see [`crate::rank::wisdom`].

use std::path::Path;

use motet_plan::select::Wisdom;

use super::{CollectiveArgs, output};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::rank::wisdom::merge_into;

impl Communicator {
    /// What enforced inits of this rank have learned so far, on any communicator, one line for each
    /// size and number of ranks; lines that say the same of sizes side by side are joined. Local.
    /// Irregular calls (gatherv, scatterv, alltoallv, exchanges) are not in it, since ranks know
    /// too little of each other's sizes to recognize them.
    ///
    /// ```
    /// motet::threads(2, |world| {
    ///     let info = motet::Info::new().with(motet::ENFORCE, "true");
    ///     let sum = world.allreduce_init(vec![1u64], motet::Sum, &info)?;
    ///     let expected = format!("allreduce ranks=2..2 bytes=8..8 -> {} #", sum.algorithm());
    ///     assert!(world.wisdom().starts_with(&expected));
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn wisdom(&self) -> String {
        self.core().lessons().all.clone().joined().to_string()
    }

    /// Merges what all ranks have learned into a file, which need not exist. Collective; the path
    /// is that of rank 0. Several programs may save into one file at once.
    ///
    /// # Errors
    /// That rank 0 cannot read or write the file: on all ranks. That a rank has died.
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

    /// Brings together what all ranks have learned, so that all use it: for later calls on this
    /// communicator, in any form, and on those that are made of it by duplication from now on.
    /// Collective.
    ///
    /// All ranks of a call must choose the same algorithm. They have the same lines after this, and
    /// as it is a call of the communicator like others, it lies between the same two of its calls
    /// on all ranks; so each call sees the same lines everywhere. Other communicators have an order
    /// of their own, so nothing changes for them.
    ///
    /// # Errors
    /// That a rank has died.
    #[track_caller]
    pub fn merge_wisdom(&self) -> Result<()> {
        let wisdom = self.wisdom_of_all("merge_wisdom")?;
        self.learned().take_wisdom(&wisdom);
        Ok(())
    }

    /// What all ranks have to tell, the same on all.
    #[track_caller]
    fn wisdom_of_all(&self, call: &'static str) -> Result<Wisdom> {
        let text = self.core().lessons().to_tell.to_string();
        let (all, blocks) = self.tell_all_lists(call, text.into_bytes())?;
        let mut wisdom = Wisdom::default();
        // What a low rank says counts first.
        for block in blocks.iter().rev() {
            let text = String::from_utf8_lossy(&all[block.start..block.start + block.count]);
            wisdom.absorb(&Wisdom::read(&text).0);
        }
        Ok(wisdom)
    }

    /// Takes the wisdom of rank 0, as the first thing that is done on a world.
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
