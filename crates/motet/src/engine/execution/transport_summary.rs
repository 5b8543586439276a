//! Which way the messages of a run travel, for people.

use motet_plan::Action;

use super::{Execution, MessageRoute};

/// How many messages of a run travel which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransportSummary {
    /// Received through channels.
    pub(crate) channels_in: usize,
    /// Sent through channels, and those of them whose other end is known.
    pub(crate) channels_out: usize,
    pub(crate) known_out: usize,
    /// Sent and received as tagged messages.
    pub(crate) tagged: usize,
    /// Not known before the first start.
    pub(crate) open: usize,
    /// Of those it receives, how many are reduced where they lie, if they come in a way that lets
    /// them lie there.
    pub(crate) reduced: usize,
    /// Whether all that its steps need has been looked up.
    pub(crate) by_script: bool,
}

impl Execution {
    /// How its messages travel, as far as that is known.
    pub(crate) fn ways(&self) -> TransportSummary {
        let mut ways =
            TransportSummary { by_script: self.is_compiled(), ..TransportSummary::default() };
        for step in self.planned.plan.ids() {
            ways.reduced += usize::from(self.reduction(step).is_some());
            match (self.planned.plan.step(step), self.link_of(step)) {
                (Action::Copy { .. } | Action::Reduce { .. }, _) => {}
                _ if self.to_be_linked => ways.open += 1,
                (_, Some(MessageRoute::In(_))) => ways.channels_in += 1,
                (_, Some(MessageRoute::Unknown)) => ways.channels_out += 1,
                (_, Some(MessageRoute::Out(_))) => {
                    ways.channels_out += 1;
                    ways.known_out += 1;
                }
                (_, None | Some(MessageRoute::Message)) => ways.tagged += 1,
            }
        }
        ways
    }
}
