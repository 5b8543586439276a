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
    pub(crate) is_compiled: bool,
}

impl Execution {
    /// Counts the routes of its messages, as far as they are known.
    pub(crate) fn transport(&self) -> TransportSummary {
        let mut routes =
            TransportSummary { is_compiled: self.is_compiled(), ..TransportSummary::default() };
        for step in self.planned.plan.ids() {
            let is_reduced = match self.is_in_order() {
                true => self.reduction(step).is_some(),
                false => self.in_place_alignment(step).is_some(),
            };
            routes.reduced += usize::from(is_reduced);
            match (self.planned.plan.step(step), self.route_of(step)) {
                (Action::Copy { .. } | Action::Reduce { .. }, _) => {}
                _ if self.to_be_linked => routes.open += 1,
                (_, Some(MessageRoute::In(_))) => routes.channels_in += 1,
                (_, Some(MessageRoute::Unknown)) => routes.channels_out += 1,
                (_, Some(MessageRoute::Out(_))) => {
                    routes.channels_out += 1;
                    routes.known_out += 1;
                }
                (_, None | Some(MessageRoute::Message)) => routes.tagged += 1,
            }
        }
        routes
    }
}
