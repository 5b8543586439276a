//! Table of the sparse collectives: one row for each.

/// Passes the rows to a macro that makes one form of them all, as `$forms!(arguments; rows)`.
///
/// A row has the names of the four forms, the name in the proposal, the function that makes the
/// operation, and the type given with each destination and source: nothing, or the place of its
/// block.
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
                /// The buffers do not hold a whole number of blocks; a neighbour is not in the
                /// communicator; or a rank has died or left.
                exchange iexchange exchange_init exchange_begin "Exchange" = exchange ((), ());

                /// Does the same as [`exchange`](crate::Communicator::exchange), with an offset and
                /// a length for each block; two ranks give the block between them the same length.
                ///
                /// # Errors
                /// Blocks lie outside the buffers or are not one for each neighbour; received
                /// blocks overlap; a neighbour is not in the communicator; or a rank has died or
                /// left.
                exchangev iexchangev exchangev_init exchangev_begin "Exchangev"
                    = exchange_blocks (Block, Block);

                /// Sends the input to all destinations, and receives block `j` of the output, of
                /// the same length, from source `j`. A rank without destinations has no input.
                ///
                /// # Errors
                /// The output does not hold one block for each source; a neighbour is not in the
                /// communicator; or a rank has died or left.
                neighbor_bcast ineighbor_bcast
                    neighbor_bcast_init neighbor_bcast_begin "Neighbor_bcast"
                    = neighbor_bcast ((), ());

                /// Does the same as [`neighbor_bcast`](crate::Communicator::neighbor_bcast), for
                /// inputs of any lengths: the input of source `j` goes to the block of the output
                /// given with it.
                ///
                /// # Errors
                /// Blocks overlap, lie outside the output, or are not one for each source; a
                /// neighbour is not in the communicator; or a rank has died or left.
                neighbor_bcastv ineighbor_bcastv
                    neighbor_bcastv_init neighbor_bcastv_begin "Neighbor_bcastv"
                    = neighbor_bcast_blocks ((), Block);
            }
            reducing {
                /// Sends block `j` of the input to destination `j`, and combines, element by
                /// element, the blocks that the sources send to this rank, in the order of `from`.
                /// The caller's own block is included only if the caller is its own destination and
                /// source. All blocks have the length of the output. A rank without sources keeps
                /// its output unchanged.
                ///
                /// # Errors
                /// The input does not hold one block for each destination; a neighbour is not in
                /// the communicator; or a rank has died or left.
                neighbor_reduce ineighbor_reduce
                    neighbor_reduce_init neighbor_reduce_begin "Neighbor_reduce"
                    = neighbor_reduce ((), ());

                /// Does the same as [`neighbor_reduce`](crate::Communicator::neighbor_reduce), with
                /// an offset and a length for each block. The block for a destination has the
                /// length of that rank's output, and the blocks from all sources have the length of
                /// this rank's output.
                ///
                /// # Errors
                /// Blocks lie outside the input, or are not one for each destination; a neighbour
                /// is not in the communicator; or a rank has died or left.
                neighbor_reducev ineighbor_reducev
                    neighbor_reducev_init neighbor_reducev_begin "Neighbor_reducev"
                    = neighbor_reduce_blocks (Block, ());

                /// Does the same as [`neighbor_reduce`](crate::Communicator::neighbor_reduce), with
                /// one block for all destinations: the whole input. A rank without destinations has
                /// no input.
                ///
                /// # Errors
                /// The input is shorter than the output; a neighbour is not in the communicator; or
                /// a rank has died or left.
                neighbor_allreduce ineighbor_allreduce
                    neighbor_allreduce_init neighbor_allreduce_begin
                    "Neighbor_reduce, with one block for all,"
                    = neighbor_allreduce ((), ());
            }
        }
    };
}

pub(crate) use sparse_collectives;
