//! Symbolic values: expressions over the elements that ranks contribute.

use std::collections::HashMap;

use crate::call::Rank;

/// An expression in the table; equal expressions have equal identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ValueId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Expression {
    /// An element of what a rank contributed.
    Contribution { rank: Rank, index: usize },
    /// `left ∘ right`.
    Reduction { left: ValueId, right: ValueId },
}

/// All expressions of one verification, each kept once.
pub(super) struct Values {
    expressions: Vec<Expression>,
    known: HashMap<Expression, ValueId>,
    /// Operands of a reduction are put in order, so that `a ∘ b` and `b ∘ a` are the same.
    commutative: bool,
}

impl Values {
    pub(super) fn new(commutative: bool) -> Self {
        Self { expressions: Vec::new(), known: HashMap::new(), commutative }
    }

    pub(super) fn contribution(&mut self, rank: Rank, index: usize) -> ValueId {
        self.intern(Expression::Contribution { rank, index })
    }

    pub(super) fn reduction(&mut self, left: ValueId, right: ValueId) -> ValueId {
        let swap = self.commutative && left > right;
        let (left, right) = if swap { (right, left) } else { (left, right) };
        self.intern(Expression::Reduction { left, right })
    }

    fn intern(&mut self, expression: Expression) -> ValueId {
        let next = ValueId(self.expressions.len() as u32);
        let id = *self.known.entry(expression).or_insert(next);
        if id == next {
            self.expressions.push(expression);
        }
        id
    }

    /// The contributions in an expression, from left to right.
    pub(super) fn operands(&self, value: ValueId) -> Vec<(Rank, usize)> {
        let mut operands = Vec::new();
        let mut stack = vec![value];
        while let Some(next) = stack.pop() {
            match self.expressions[next.0 as usize] {
                Expression::Contribution { rank, index } => operands.push((rank, index)),
                Expression::Reduction { left, right } => stack.extend([right, left]),
            }
        }
        operands
    }

    /// Whether `value` is the reduction of these contributions, in this order if that matters.
    pub(super) fn is_reduction(&self, value: ValueId, expected: &[(Rank, usize)]) -> bool {
        let mut operands = self.operands(value);
        if !self.commutative {
            return operands == expected;
        }
        let mut expected = expected.to_vec();
        operands.sort_unstable();
        expected.sort_unstable();
        operands == expected
    }

    /// The expression as text: `(a0[3]∘a1[3])`.
    pub(super) fn text(&self, value: ValueId) -> String {
        match self.expressions[value.0 as usize] {
            Expression::Contribution { rank, index } => format!("a{rank}[{index}]"),
            Expression::Reduction { left, right } => {
                format!("({}∘{})", self.text(left), self.text(right))
            }
        }
    }
}
