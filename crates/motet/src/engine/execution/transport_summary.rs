//! A transport summary counts how the messages of an execution travel, for display.

use motet_plan::Action;

use super::{Execution, MessageRoute};

/// How many messages of an execution take which route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransportSummary {
    /// Received through channels.
    pub(crate) channels_in: usize,
    /// Sent through channels, and those of them whose channel the receiver has announced.
    pub(crate) channels_out: usize,
    pub(crate) known_out: usize,
    /// Sent and received as tagged messages.
    pub(crate) tagged: usize,
    /// Routes not known before the first start.
    pub(crate) open: usize,
    /// Received messages that are reduced in shared memory, if they arrive in a way that allows it.
    pub(crate) reduced: usize,
    /// Whether a linked program runs the steps.
    pub(crate) by_script: bool,
}

impl Execution {
    /// Counts the routes of its messages, as far as they are known.
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
