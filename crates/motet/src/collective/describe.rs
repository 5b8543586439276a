//! Descriptions of calls for check mode.

use std::panic::Location;

use super::{Participants, PreparedCall};
use crate::base::group::Group;
use crate::comm::communicator::Communicator;
use crate::engine::Selection;
use crate::engine::check::{CallDescription, Elements, Reducing, Within, operator_name};

impl Communicator {
    /// Describes a call, if check mode reports it to other ranks.
    #[inline]
    pub(crate) fn account(
        &self,
        prepared: &PreparedCall,
        selection: Selection,
        at: &Location<'_>,
    ) -> Option<CallDescription> {
        self.membership().map(|_| self.statement(prepared, selection, at))
    }

    /// Describes a call.
    #[cold]
    pub(crate) fn statement(
        &self,
        prepared: &PreparedCall,
        selection: Selection,
        at: &Location<'_>,
    ) -> CallDescription {
        let place = self.core().watch().place(at);
        account_of(prepared, selection, self.group(), &place).hinted(&prepared.hints)
    }
}

fn account_of(
    prepared: &PreparedCall,
    selection: Selection,
    all: &Group,
    place: &str,
) -> CallDescription {
    let within = match prepared.among.as_deref() {
        None => None,
        Some(Participants { passed: None, .. }) => {
            return CallDescription::of_some(prepared.call, place);
        }
        Some(Participants { passed: Some(group), .. }) => Some(Within { group, all }),
    };
    if let (Some(within), true) = (within, prepared.is_idle()) {
        return CallDescription::outside(prepared.call, within, place);
    }
    let elements = Elements { code: prepared.element, bytes: prepared.element_bytes };
    let of_type = || Some(operator_name(prepared.kernel.as_deref()?.operator()));
    let operator = prepared.operator.or_else(of_type);
    let reducing = Reducing { operator, selection };
    CallDescription::of(prepared.call, &prepared.shape.operation, elements, reducing, within, place)
}
