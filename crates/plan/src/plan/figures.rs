//! Figures of a plan: messages, bytes, steps.

use super::{Action, Plan};
use crate::call::NodeMap;

/// Messages, and elements in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// How many messages.
    pub messages: usize,
    /// Elements in all of them.
    pub elements: usize,
}

impl Plan {
    /// What the rank sends.
    pub fn sent(&self) -> Load {
        self.load(|step| matches!(step, Action::Send { .. }))
    }

    /// What the rank receives.
    pub fn received(&self) -> Load {
        self.load(|step| matches!(step, Action::Recv { .. }))
    }

    /// What the rank sends to other nodes.
    pub fn sent_to_other_nodes(&self, nodes: &NodeMap) -> Load {
        let own = nodes.node(self.rank());
        self.load(|step| matches!(step, Action::Send { to, .. } if nodes.node(*to) != own))
    }

    fn load(&self, is_counted: impl Fn(&Action) -> bool) -> Load {
        let counted = self.steps().iter().filter(|step| is_counted(step));
        counted.fold(Load::default(), |load, step| Load {
            messages: load.messages + 1,
            elements: load.elements + step.elements(),
        })
    }

    /// The longest chain of messages of this rank, each of which waits for the one before: how
    /// often the rank must be heard of again before its part is over. Chains over other ranks are
    /// longer, and are not known here; the [cost](crate::Cost) of an algorithm counts those.
    pub fn rounds(&self) -> usize {
        let mut before = vec![0; self.steps().len()];
        let mut longest = 0;
        for step in self.ids() {
            let is_message = matches!(self.step(step), Action::Send { .. } | Action::Recv { .. });
            let rounds = before[step.index()] + usize::from(is_message);
            longest = longest.max(rounds);
            for after in self.successors(step) {
                let known = &mut before[after.index()];
                *known = rounds.max(*known);
            }
        }
        longest
    }
}
