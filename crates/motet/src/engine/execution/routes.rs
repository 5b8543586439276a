//! Opens the channels of a persistent execution and gives them back.

use std::collections::HashSet;

use motet_fabric::channel::{ALWAYS_MAX_BYTES, MessagePattern, cells, longest};
use motet_fabric::{Attached, Endpoint, Failure};
use motet_plan::{Action, Rank, StepId};

use super::super::mourning::first_in;
use super::channel_routes::LinkedProgram;
use super::dataflow::StepAttempt;
use super::{Execution, MessageRoute, MessageRoutes};

/// When the channels of a persistent operation are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkTime {
    /// By the init.
    Now,
    /// By the first start. The ranks need not agree on this: a sender waits until the receiver has
    /// announced the channel, whenever that is.
    AtStart,
}

impl Execution {
    /// Opens the channels through which this rank receives, and marks the sends that will use one.
    /// It waits for no other rank.
    pub(crate) fn link(&mut self, endpoint: &mut Endpoint) {
        self.memory.want_scratch();
        let (ranks, is_oversubscribed) =
            (self.planned.plan.ranks(), endpoint.segment().is_oversubscribed());
        let (partners, is_swap) = (self.partners(), self.is_swap());
        let is_too_long = |other: Rank, elements: usize| {
            let traffic = match (partners.contains(&other), is_swap) {
                (false, _) => MessagePattern::OneWay,
                (true, false) => MessagePattern::Exchange,
                (true, true) => MessagePattern::Swap,
            };
            let bytes = self.memory.bytes(elements);
            bytes > ALWAYS_MAX_BYTES && bytes > longest(traffic, is_oversubscribed)
        };
        let received = self.planned.plan.steps().iter().filter_map(|step| match *step {
            Action::Recv { from, into, .. } if !is_too_long(from, into.len) => {
                Some(self.memory.bytes(into.len))
            }
            _ => None,
        });
        let mut cells = cells(&received.collect::<Vec<_>>(), ranks, is_oversubscribed).into_iter();
        let route = |step: StepId| match *self.planned.plan.step(step) {
            Action::Recv { from, ordinal, into } if is_too_long(from, into.len) => {
                let bytes = self.memory.bytes(into.len);
                let (from, label) = (self.peer(from), self.label(ordinal));
                endpoint.refuse_channel(from, label, self.element, bytes);
                MessageRoute::Message
            }
            Action::Send { to, ordinal, from } if is_too_long(to, from.len) => {
                if !endpoint.reaches(self.peer(to)) {
                    endpoint.forget_channel(self.peer(to), self.label(ordinal));
                }
                MessageRoute::Message
            }
            Action::Recv { from, ordinal, into } => {
                let (label, bytes) = (self.label(ordinal), self.memory.bytes(into.len));
                let (from, cells) = (self.peer(from), cells.next().expect("one for each receive"));
                let channel = endpoint.open_channel(from, label, self.element, bytes, cells);
                channel.map_or(MessageRoute::Message, MessageRoute::In)
            }
            Action::Send { to, .. } if endpoint.reaches(self.peer(to)) => MessageRoute::Message,
            Action::Send { .. } => MessageRoute::Unknown,
            Action::Copy { .. } | Action::Reduce { .. } => MessageRoute::Message,
        };
        let routes: Box<[MessageRoute]> = self.planned.plan.ids().map(route).collect();
        // With messages but no channel, as between hosts, it runs like a nonpersistent collective.
        let has_channels = routes.iter().any(|route| !matches!(route, MessageRoute::Message));
        if has_channels || !self.has_messages_beside(&routes) {
            // Room for every step, so that no start allocates.
            let blocked = Vec::with_capacity(routes.len());
            let program = LinkedProgram::of(self, &routes);
            self.channels = Some(Box::new(MessageRoutes { routes, blocked, program }));
        }
        // The previous operation may have ended while it was polled.
        (self.polled, self.to_be_linked) = (false, false);
    }

    /// The ranks to which this rank sends and from which it receives; they find the same of this
    /// rank. Empty if all messages are so short that it does not matter.
    fn partners(&self) -> HashSet<Rank> {
        let steps = self.planned.plan.steps();
        let is_long = |step: &Action| self.memory.bytes(step.elements()) > ALWAYS_MAX_BYTES;
        if !steps.iter().any(is_long) {
            return HashSet::new();
        }
        let sources = steps.iter().filter_map(|step| match step {
            Action::Recv { from, .. } => Some(*from),
            _ => None,
        });
        let sources: HashSet<Rank> = sources.collect();
        let replied = |step: &Action| match step {
            Action::Send { to, .. } if sources.contains(to) => Some(*to),
            _ => None,
        };
        steps.iter().filter_map(replied).collect()
    }

    /// Whether there are exactly two ranks and each sends the other one message. A rank that sends
    /// one and receives one knows that the other does, too; data for itself it copies.
    fn is_swap(&self) -> bool {
        let messages = |is_one: fn(&Action) -> bool| {
            self.planned.plan.steps().iter().filter(|&step| is_one(step)).count()
        };
        let sent = messages(|step| matches!(step, Action::Send { .. }));
        let received = messages(|step| matches!(step, Action::Recv { .. }));
        (self.planned.plan.ranks(), sent, received) == (2, 1, 1)
    }

    /// Leaves opening the channels to the first start.
    pub(crate) fn link_at_start(&mut self) {
        (self.polled, self.to_be_linked) = (false, true);
    }

    /// Whether the channels are not opened yet.
    #[inline]
    pub(crate) fn is_to_be_linked(&self) -> bool {
        self.to_be_linked
    }

    /// Gives the channels back.
    pub(crate) fn unlink(&mut self, endpoint: &mut Endpoint) {
        if self.to_be_linked {
            // Other ranks have announced their channels or wait for this rank's. For an operation
            // that was never started, this costs what the init has saved.
            self.link(endpoint);
        }
        let Some(channels) = self.channels.take() else { return };
        for (step, route) in self.planned.plan.ids().zip(channels.routes) {
            match (route, *self.planned.plan.step(step)) {
                (MessageRoute::In(channel), _) => endpoint.close_channel(channel),
                (MessageRoute::Unknown, Action::Send { to, ordinal, .. }) => {
                    endpoint.forget_channel(self.peer(to), self.label(ordinal));
                }
                _ => {}
            }
        }
    }

    /// Gives the channels back except the incoming ones, because the execution will never start
    /// again and its senders may not know that yet: what they still write into a channel must not
    /// meet another use of its cells.
    pub(crate) fn cut_off(&mut self, endpoint: &mut Endpoint) {
        if self.to_be_linked {
            self.link(endpoint);
        }
        let routes = self.channels.iter_mut().flat_map(|channels| &mut channels.routes);
        routes.for_each(|route| {
            if let MessageRoute::In(_) = route {
                *route = MessageRoute::Message;
            }
        });
        self.unlink(endpoint);
    }

    /// The death of a rank that takes part, if these deaths include one.
    pub(crate) fn death_among(&self, deaths: &[Failure]) -> Option<Failure> {
        first_in(&self.group, deaths)
    }

    /// Attaches to the channel of the receiver, if it has been announced, and sends.
    #[cold]
    pub(super) fn find_channel(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
    ) -> StepAttempt {
        let (to, label, data) = self.message(step);
        let route = match endpoint.attach_channel(to, label, self.element, data.bytes()) {
            Attached::Unknown => return StepAttempt::Blocked,
            Attached::Channel(channel) => MessageRoute::Out(channel),
            Attached::Refused => MessageRoute::Message,
            // The ranks disagree on the operation. The receiver must find out as it would without
            // channels: by a message that does not fit.
            Attached::Mismatch(_) => MessageRoute::Message,
        };
        self.channels().routes[step.index()] = route;
        self.try_channel(step, operation, endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that every pending operation needs beside its plan's memory.
    #[test]
    fn runs_are_small() {
        assert_eq!(size_of::<Execution>(), 152);
    }
}
