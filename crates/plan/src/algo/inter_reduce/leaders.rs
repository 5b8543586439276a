//! Leaders: the group without the root reduces to its first rank, which sends on to the root.
//!
//! ```text
//!   groups 0 1 and 2 3 4     2        3        4        0        1 (root)
//!   reduce                   cde
//!   send on                  -------------------------------->   cde
//! ```
//!
//! Operands are in the order of that group, whatever the root is. The other ranks of the root's
//! group have nothing to do.
//!
//! Cost: that of a binomial reduction of `p` ranks, and a message of `n`.

use crate::algo::{Algorithm, Refusal, between, reduce};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::cost::Cost;

struct Leaders;

pub(in crate::algo) const ROW: &dyn Algorithm = &Leaders;

impl Algorithm for Leaders {
    fn name(&self) -> &'static str {
        "leaders"
    }

    fn collective(&self) -> Collective {
        Collective::InterReduce
    }

    fn summary(&self) -> &'static str {
        "the group without the root reduces to its first rank, which sends on to the root"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterReduce { count, commutative, .. } = call.operation else {
            unreachable!("a reduction between groups is planned")
        };
        let operation = Operation::Reduce { count, root: Rank(0), commutative };
        let row = reduce::binomial::ROW;
        row.cost_within(call, between::contributors(call).len() as u32, operation)
            .then(between::message(call.bytes()))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterReduce { count, root, commutative, .. } = call.operation else {
            unreachable!("a reduction between groups is planned")
        };
        let contributors = between::contributors(call);
        if call.rank == root {
            builder.recv(Rank(contributors.start), builder.output());
        }
        if !contributors.contains(&call.rank.0) {
            return;
        }
        let own = builder.contribution();
        let sum = if contributors.len() == 1 {
            own
        } else {
            let sum = between::room_of_leader(call, builder, count);
            let operation = Operation::Reduce { count, root: Rank(0), commutative };
            between::within_near(call, builder, reduce::binomial::ROW, operation, (own, sum));
            sum
        };
        if call.rank.0 == contributors.start {
            builder.send(root, sum);
        }
    }
}
