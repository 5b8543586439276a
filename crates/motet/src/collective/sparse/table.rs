//! The sparse collectives: a row for each.

/// Hands the rows to a macro that makes one form of them all, as `$forms!(arguments; rows)`.
///
/// A row has the names of the four forms, that of the proposal, what makes its shape, and what
/// destinations and sources are given with: nothing, or a place for the block of each.
macro_rules! sparse_collectives {
    ($forms:ident($($argument:tt)*)) => {
        $forms! {
            ($($argument)*)
            moving {
                /// Sends block `j` of the input to destination `j`, and receives block `j` of the
                /// output from source `j`; all blocks have one length. Rank `a` names `b` in `to`
                /// as often as `b` names `a` in `from`.
                ///
                /// # Errors
                /// Buffers that are no whole number of blocks; a neighbour that is not in the
                /// communicator; a rank that has died or left.
                exchange iexchange exchange_init exchange_begin "Exchange" = exchange ((), ());

                /// As [`exchange`](crate::Communicator::exchange), with a place and a length for
                /// each block; two ranks give the blocks that they have for each other one length.
                ///
                /// # Errors
                /// Blocks that the buffers do not hold, that are not one for each neighbour, or
                /// received blocks that overlap; a neighbour that is not in the communicator; a
                /// rank that has died or left.
                exchangev iexchangev exchangev_init exchangev_begin "Exchangev"
                    = exchange_blocks (Block, Block);

                /// Sends the input to all destinations, and receives block `j` of the output, of
                /// the same length, from source `j`. A rank without destinations has no input.
                ///
                /// # Errors
                /// An output that does not hold one block for each source; a neighbour that is not
                /// in the communicator; a rank that has died or left.
                neighbor_bcast ineighbor_bcast
                    neighbor_bcast_init neighbor_bcast_begin "Neighbor_bcast"
                    = neighbor_bcast ((), ());

                /// As [`neighbor_bcast`](crate::Communicator::neighbor_bcast), for inputs of any
                /// lengths: that of source `j` goes into the place of the output that is given
                /// with it.
                ///
                /// # Errors
                /// Blocks that overlap, that the output does not hold, or that are not one for each
                /// source; a neighbour that is not in the communicator; a rank that has died or
                /// left.
                neighbor_bcastv ineighbor_bcastv
                    neighbor_bcastv_init neighbor_bcastv_begin "Neighbor_bcastv"
                    = neighbor_bcast_blocks ((), Block);
            }
            reducing {
                /// Sends block `j` of the input to destination `j`, and combines, element by
                /// element, the blocks that the sources send to this rank, in the order of `from`:
                /// its own only if it is its own destination and source. All blocks have the length
                /// of the output. A rank without sources keeps its output as it is.
                ///
                /// # Errors
                /// An input that does not hold one block for each destination; a neighbour that is
                /// not in the communicator; a rank that has died or left.
                neighbor_reduce ineighbor_reduce
                    neighbor_reduce_init neighbor_reduce_begin "Neighbor_reduce"
                    = neighbor_reduce ((), ());

                /// As [`neighbor_reduce`](crate::Communicator::neighbor_reduce), with a place and a
                /// length for each block: that for a destination has the length of the output
                /// there, and those from all sources that of the output here.
                ///
                /// # Errors
                /// Blocks that the input does not hold, or that are not one for each destination; a
                /// neighbour that is not in the communicator; a rank that has died or left.
                neighbor_reducev ineighbor_reducev
                    neighbor_reducev_init neighbor_reducev_begin "Neighbor_reducev"
                    = neighbor_reduce_blocks (Block, ());

                /// As [`neighbor_reduce`](crate::Communicator::neighbor_reduce), with one block for
                /// all destinations: the whole input. A rank without destinations has no input.
                ///
                /// # Errors
                /// An input that is shorter than the output; a neighbour that is not in the
                /// communicator; a rank that has died or left.
                neighbor_allreduce ineighbor_allreduce
                    neighbor_allreduce_init neighbor_allreduce_begin
                    "Neighbor_reduce, with one block for all,"
                    = neighbor_allreduce ((), ());
            }
        }
    };
}

pub(crate) use sparse_collectives;
