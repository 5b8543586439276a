/* What Motet has in C and the standard has not.
 *
 * Made from crates/abi/tables/extension*.tsv like mpi.h. A program that uses it runs with Motet
 * only.
 */

#ifndef MOTET_MPIX_H
#define MOTET_MPIX_H

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An argument that is in is read, one that is out is written, and one that is inout is both. Lists
 * have an entry for each block, and may be NULL if there is none. Lists and handles may be changed
 * and freed when the call has returned; the operation goes on.
 *
 * A call returns MPI_SUCCESS or an error, which goes to the error handler of the communicator
 * first. Behind each class stands what causes it, mostly wrong arguments. MPI_ERR_BUFFER: NULL
 * where there are items, MPI_IN_PLACE where it is refused, or a receive buffer that overlaps the
 * send buffer. MPI_ERR_COUNT: a negative number of items. MPI_ERR_ARG: NULL for a list or a result,
 * or a value out of range. MPI_ERR_TYPE: no committed datatype.
 *
 * Any call may return MPI_ERR_OTHER (the library is not initialized, or check mode has found calls
 * of ranks that do not match), MPI_ERR_NO_MEM (no memory, or more pending operations than
 * MOTET_MAX_PENDING allows) and MPI_ERR_INTERN (a fault of the library).
 *
 * What goes wrong in an operation with a request is returned by MPI_Start, MPI_Wait or MPI_Test.
 *
 * 2008 proposal: T. Hoefler, A. Lumsdaine, C. Siebert, J. L. Traeff, "A proposal for persistent,
 * sparse, and non-blocking collectives", 30 May 2008.
 *
 * 1997 two-phase proposal: J. Cownie, "2-phase collective", mail to the MPI Forum, 4 February 1997;
 * option 3 is that begin and end are both collective.
 */

/* ===== Persistent collectives among a group ===== */

/* Make a persistent request for a collective among the members of group: each run completes at a
 * member only after all members have started it.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   group    in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                 order. The same at all members; other ranks pass the same group, MPI_GROUP_EMPTY,
 *                 or a group that has no rank in common with it, but with enforce all pass one
 *                 group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info     in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous and
 *                 deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm     in   communicator; an intercommunicator is refused
 *   request  out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_ARG (request);
 *   MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Barrier_init, 2008 proposal section 2.1; MPI_Barrier, MPI 5.0 section 6.3, and
 *   section 6.13.
 */
int MPIX_Barrier_init(MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run copies the data
 * of root to all other members.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   buffer    inout  data: read at root, written at the other members; MPI_IN_PLACE is refused
 *   count     in     number of items in buffer
 *   datatype  in     committed datatype of an item
 *   root      in     rank of the root in comm; a member of group, unless the caller passes an empty
 *                    group
 *   group     in     the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info      in     hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm      in     communicator; an intercommunicator is refused
 *   request   out    inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (buffer); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype); MPI_ERR_ROOT
 *   (root); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_ARG (request);
 *   MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Bcast_init, 2008 proposal section 2.1; MPI_Bcast, MPI 5.0 section 6.4, and section
 *   6.13.
 */
int MPIX_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Bcast_init, with count as MPI_Count. */
int MPIX_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run collects a block
 * from each member at root, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf    in   block of this member; MPI_IN_PLACE at root: the block is in recvbuf already
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of group; written at root only
 *   recvcount  in   number of items in each block of recvbuf; read at root only
 *   recvtype   in   committed datatype of an item in recvbuf; read at root only
 *   root       in   rank of the root in comm; a member of group, unless the caller passes an empty
 *                   group
 *   group      in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                   order. The same at all members; other ranks pass the same group,
 *                   MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                   enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ROOT (root); MPI_ERR_GROUP (group); MPI_ERR_INFO (info);
 *   MPI_ERR_COMM (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the
 *   ranks do not fit together).
 * Source: MPI_Gather_init, 2008 proposal section 2.1; MPI_Gather, MPI 5.0 section 6.5, and section
 *   6.13.
 */
int MPIX_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Gather_init, with sendcount and recvcount as MPI_Count. */
int MPIX_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run collects a block
 * from each member at root, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf     in   block of this member; MPI_IN_PLACE at root: the block is in recvbuf already
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of group; written at root only
 *   recvcounts  in   number of items from each member of group; read at root only
 *   displs      in   place of the block from each member of group in recvbuf, in extents of
 *                    recvtype; read at root only
 *   recvtype    in   committed datatype of an item in recvbuf; read at root only
 *   root        in   rank of the root in comm; a member of group, unless the caller passes an empty
 *                    group
 *   group       in   the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, displs, request); MPI_ERR_ROOT (root);
 *   MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_NOT_SAME (with
 *   enforce, the calls of the ranks do not fit together).
 * Source: MPI_Gatherv_init, 2008 proposal section 2.1; MPI_Gatherv, MPI 5.0 section 6.5, and
 *   section 6.13.
 */
int MPIX_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Gatherv_init, with sendcount and recvcounts as MPI_Count, displs as MPI_Aint. */
int MPIX_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run sends a block
 * from root to each member, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf    in   block k goes to member k of group; read at root only
 *   sendcount  in   number of items in each block of sendbuf; read at root only
 *   sendtype   in   committed datatype of an item in sendbuf; read at root only
 *   recvbuf    out  block of this member; MPI_IN_PLACE at root: the block stays in sendbuf
 *   recvcount  in   number of items in recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   root       in   rank of the root in comm; a member of group, unless the caller passes an empty
 *                   group
 *   group      in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                   order. The same at all members; other ranks pass the same group,
 *                   MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                   enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ROOT (root); MPI_ERR_GROUP (group); MPI_ERR_INFO (info);
 *   MPI_ERR_COMM (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the
 *   ranks do not fit together).
 * Source: MPI_Scatter_init, 2008 proposal section 2.1; MPI_Scatter, MPI 5.0 section 6.6, and
 *   section 6.13.
 */
int MPIX_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Scatter_init, with sendcount and recvcount as MPI_Count. */
int MPIX_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run sends a block
 * from root to each member, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf     in   block k goes to member k of group; read at root only
 *   sendcounts  in   number of items for each member of group; read at root only
 *   displs      in   place of the block for each member of group in sendbuf, in extents of
 *                    sendtype; read at root only
 *   sendtype    in   committed datatype of an item in sendbuf; read at root only
 *   recvbuf     out  block of this member; MPI_IN_PLACE at root: the block stays in sendbuf
 *   recvcount   in   number of items in recvbuf
 *   recvtype    in   committed datatype of an item in recvbuf
 *   root        in   rank of the root in comm; a member of group, unless the caller passes an empty
 *                    group
 *   group       in   the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, displs, request);
 *   MPI_ERR_COUNT (sendcounts, recvcount); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_ROOT (root);
 *   MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_NOT_SAME (with
 *   enforce, the calls of the ranks do not fit together).
 * Source: MPI_Scatterv_init, 2008 proposal section 2.1; MPI_Scatterv, MPI 5.0 section 6.6, and
 *   section 6.13.
 */
int MPIX_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Scatterv_init, with sendcounts and recvcount as MPI_Count, displs as MPI_Aint. */
int MPIX_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run collects a block
 * from each member at all members, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf    in   block of this member; MPI_IN_PLACE at all members: the block is in recvbuf
 *                   already
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of group
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   group      in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                   order. The same at all members; other ranks pass the same group,
 *                   MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                   enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm);
 *   MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit
 *   together).
 * Source: MPI_Allgather_init, 2008 proposal section 2.1; MPI_Allgather, MPI 5.0 section 6.7, and
 *   section 6.13.
 */
int MPIX_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Allgather_init, with sendcount and recvcount as MPI_Count. */
int MPIX_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run collects a block
 * from each member at all members, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf     in   block of this member; MPI_IN_PLACE at all members: the block is in recvbuf
 *                    already
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of group
 *   recvcounts  in   number of items from each member of group
 *   displs      in   place of the block from each member of group in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   group       in   the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, displs, request); MPI_ERR_GROUP (group);
 *   MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_NOT_SAME (with enforce, the calls of the
 *   ranks do not fit together).
 * Source: MPI_Allgatherv_init, 2008 proposal section 2.1; MPI_Allgatherv, MPI 5.0 section 6.7, and
 *   section 6.13.
 */
int MPIX_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Allgatherv_init, with sendcount and recvcounts as MPI_Count, displs as MPI_Aint. */
int MPIX_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run sends a block
 * from each member to each member, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf    in   block k goes to member k of group; MPI_IN_PLACE at all members: the blocks are
 *                   in recvbuf, which the received ones replace
 *   sendcount  in   number of items in each block of sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of group
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   group      in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                   order. The same at all members; other ranks pass the same group,
 *                   MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                   enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm);
 *   MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit
 *   together).
 * Source: MPI_Alltoall_init, 2008 proposal section 2.1; MPI_Alltoall, MPI 5.0 section 6.8, and
 *   section 6.13.
 */
int MPIX_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Alltoall_init, with sendcount and recvcount as MPI_Count. */
int MPIX_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run sends a block
 * from each member to each member, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf     in   block k goes to member k of group; MPI_IN_PLACE at all members: the blocks are
 *                    in recvbuf, which the received ones replace
 *   sendcounts  in   number of items for each member of group
 *   sdispls     in   place of the block for each member of group in sendbuf, in extents of sendtype
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of group
 *   recvcounts  in   number of items from each member of group
 *   rdispls     in   place of the block from each member of group in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   group       in   the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, recvcounts, rdispls,
 *   request); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE (sendtype, recvtype);
 *   MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_NOT_SAME (with
 *   enforce, the calls of the ranks do not fit together).
 * Source: MPI_Alltoallv_init, 2008 proposal section 2.1; MPI_Alltoallv, MPI 5.0 section 6.8, and
 *   section 6.13.
 */
int MPIX_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Alltoallv_init, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as
 * MPI_Aint.
 */
int MPIX_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run sends a block
 * from each member to each member, each of its own length and datatype.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf     in   block k goes to member k of group; MPI_IN_PLACE at all members: the blocks are
 *                    in recvbuf, which the received ones replace
 *   sendcounts  in   number of items for each member of group
 *   sdispls     in   place of the block for each member of group in sendbuf, in bytes
 *   sendtypes   in   committed datatype of the items for each member of group; MPI_DATATYPE_NULL
 *                    where there are none
 *   recvbuf     out  block k comes from member k of group
 *   recvcounts  in   number of items from each member of group
 *   rdispls     in   place of the block from each member of group in recvbuf, in bytes
 *   recvtypes   in   committed datatype of the items from each member of group; MPI_DATATYPE_NULL
 *                    where there are none
 *   group       in   the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, sendtypes,
 *   recvcounts, rdispls, recvtypes, request); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE
 *   (sendtypes, recvtypes); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm);
 *   MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Alltoallw_init, 2008 proposal section 2.1; MPI_Alltoallw, MPI 5.0 section 6.8, and
 *   section 6.13.
 */
int MPIX_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Alltoallw_init, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as
 * MPI_Aint.
 */
int MPIX_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run combines the
 * items of all members with op, and writes the result at root.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf   in   items of this member; MPI_IN_PLACE at root: they are in recvbuf
 *   recvbuf   out  result; written at root only
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the members unless it is commutative
 *   root      in   rank of the root in comm; a member of group, unless the caller passes an empty
 *                  group
 *   group     in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                  order. The same at all members; other ranks pass the same group,
 *                  MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with enforce
 *                  all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info      in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                  and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm      in   communicator; an intercommunicator is refused
 *   request   out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_ROOT (root); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM
 *   (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not
 *   fit together).
 * Source: MPI_Reduce_init, 2008 proposal section 2.1 (without the operator); MPI_Reduce, MPI 5.0
 *   section 6.9.1, and section 6.13.
 */
int MPIX_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Reduce_init, with count as MPI_Count. */
int MPIX_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run combines the
 * items of all members with op, and writes the result at each of them.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf   in   items of this member; MPI_IN_PLACE at all members: they are in recvbuf
 *   recvbuf   out  result
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the members unless it is commutative
 *   group     in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                  order. The same at all members; other ranks pass the same group,
 *                  MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with enforce
 *                  all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info      in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                  and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm      in   communicator; an intercommunicator is refused
 *   request   out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Allreduce_init, 2008 proposal section 2.1 (without the operator); MPI_Allreduce, MPI
 *   5.0 section 6.9.6, and section 6.13.
 */
int MPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Allreduce_init, with count as MPI_Count. */
int MPIX_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run combines the
 * items of all members with op, and gives each of them a block of the result, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf    in   items of this member; MPI_IN_PLACE at all members: they are in recvbuf
 *   recvbuf    out  block of the result for this member
 *   recvcount  in   number of items in recvbuf, the same at all members; sendbuf has as many for
 *                   each
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of the members unless it is commutative
 *   group      in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                   order. The same at all members; other ranks pass the same group,
 *                   MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                   enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (recvcount); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: Motet, as MPI_Reduce_scatter_init of 2008 proposal section 2.1; MPI_Reduce_scatter_block,
 *   MPI 5.0 section 6.10.1, and section 6.13.
 */
int MPIX_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Reduce_scatter_block_init, with recvcount as MPI_Count. */
int MPIX_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run combines the
 * items of all members with op, and gives each of them a block of the result, each of its own
 * length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf     in   items of this member; MPI_IN_PLACE at all members: they are in recvbuf
 *   recvbuf     out  block of the result for this member
 *   recvcounts  in   number of items of the result for each member, the same list at all of them
 *   datatype    in   committed datatype of an item
 *   op          in   operator that is defined for datatype, or that the program has made; applied
 *                    in the order of the members unless it is commutative
 *   group       in   the members, all of them ranks of comm; blocks, lists and operands are in
 *                    their order. The same at all members; other ranks pass the same group,
 *                    MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with
 *                    enforce all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (recvcounts, request); MPI_ERR_COUNT
 *   (recvcounts); MPI_ERR_TYPE (datatype); MPI_ERR_OP (op); MPI_ERR_GROUP (group); MPI_ERR_INFO
 *   (info); MPI_ERR_COMM (comm); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit
 *   together).
 * Source: MPI_Reduce_scatter_init, 2008 proposal section 2.1 (without the operator);
 *   MPI_Reduce_scatter, MPI 5.0 section 6.10.2, and section 6.13.
 */
int MPIX_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Reduce_scatter_init, with recvcounts as MPI_Count. */
int MPIX_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run gives each member
 * the items of all members up to itself, combined with op.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf   in   items of this member; MPI_IN_PLACE at all members: they are in recvbuf
 *   recvbuf   out  result
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the members unless it is commutative
 *   group     in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                  order. The same at all members; other ranks pass the same group,
 *                  MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with enforce
 *                  all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info      in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                  and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm      in   communicator; an intercommunicator is refused
 *   request   out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Scan_init, 2008 proposal section 2.1 (without the operator); MPI_Scan, MPI 5.0
 *   section 6.11.1, and section 6.13.
 */
int MPIX_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Scan_init, with count as MPI_Count. */
int MPIX_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for a collective among the members of group: each run gives each member
 * but the first the items of all members before it, combined with op.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. The call does not wait for other ranks, unless the
 * hint enforce is true. Of a rank outside group no buffer, count, datatype or operator is read, and
 * each of its runs is complete at once.
 *
 *   sendbuf   in   items of this member; MPI_IN_PLACE at all members: they are in recvbuf
 *   recvbuf   out  result; not written at the first member
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the members unless it is commutative
 *   group     in   the members, all of them ranks of comm; blocks, lists and operands are in their
 *                  order. The same at all members; other ranks pass the same group,
 *                  MPI_GROUP_EMPTY, or a group that has no rank in common with it, but with enforce
 *                  all pass one group or MPI_GROUP_EMPTY. MPI_GROUP_NULL is refused
 *   info      in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                  and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm      in   communicator; an intercommunicator is refused
 *   request   out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (group); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Exscan_init, 2008 proposal section 2.1 (without the operator); MPI_Exscan, MPI 5.0
 *   section 6.11.2, and section 6.13.
 */
int MPIX_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Exscan_init, with count as MPI_Count. */
int MPIX_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* ===== Exchanges with named neighbours ===== */

/* Make a persistent request for an exchange: each run sends block k to member k of sendgroup, and
 * receives block k from member k of recvgroup, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf    in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in each block of sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of recvgroup
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM
 *   (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not
 *   fit together).
 * Source: MPI_Exchange_init, 2008 proposal section 2.1; cf. MPI_Neighbor_alltoall, MPI 5.0 section
 *   8.6.2.
 */
int MPIX_Exchange_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* As MPIX_Exchange_init, with sendcount and recvcount as MPI_Count. */
int MPIX_Exchange_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends block k to member k of sendgroup, and receives block k from member k
 * of recvgroup, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf    in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in each block of sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of recvgroup
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount, or less data
 *   arrives than is expected); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_GROUP (sendgroup,
 *   recvgroup); MPI_ERR_COMM (comm); MPI_ERR_TRUNCATE (more data arrives than there is room for);
 *   MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: Motet, as the blocking form of: MPI_Exchange_init, 2008 proposal section 2.1; cf.
 *   MPI_Neighbor_alltoall, MPI 5.0 section 8.6.2.
 */
int MPIX_Exchange(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Exchange, with sendcount and recvcount as MPI_Count. */
int MPIX_Exchange_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Comm comm);

/* Start an exchange that sends block k to member k of sendgroup, and receives block k from member k
 * of recvgroup, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf    in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in each block of sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of recvgroup
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Exchange_init, 2008
 *   proposal section 2.1; cf. MPI_Neighbor_alltoall, MPI 5.0 section 8.6.2.
 */
int MPIX_Iexchange(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Iexchange, with sendcount and recvcount as MPI_Count. */
int MPIX_Iexchange_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for an exchange: each run sends block k to member k of sendgroup, and
 * receives block k from member k of recvgroup, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in extents of
 *                    sendtype
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, recvcounts, rdispls,
 *   request); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE (sendtype, recvtype);
 *   MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM (comm);
 *   MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Exchangev_init, 2008 proposal section 2.1; cf. MPI_Neighbor_alltoallv, MPI 5.0
 *   section 8.6.2.
 */
int MPIX_Exchangev_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Exchangev_init, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as
 * MPI_Aint.
 */
int MPIX_Exchangev_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends block k to member k of sendgroup, and receives block k from member k
 * of recvgroup, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in extents of
 *                    sendtype
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, recvcounts,
 *   rdispls); MPI_ERR_COUNT (sendcounts, recvcounts, or less data arrives than is expected);
 *   MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm);
 *   MPI_ERR_TRUNCATE (more data arrives than there is room for); MPI_ERR_PROC_ABORTED (a rank has
 *   died or left).
 * Source: Motet, as the blocking form of: MPI_Exchangev_init, 2008 proposal section 2.1; cf.
 *   MPI_Neighbor_alltoallv, MPI 5.0 section 8.6.2.
 */
int MPIX_Exchangev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Exchangev, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as MPI_Aint.
 */
int MPIX_Exchangev_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends block k to member k of sendgroup, and receives block k from member k
 * of recvgroup, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in extents of
 *                    sendtype
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, recvcounts, rdispls,
 *   request); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE (sendtype, recvtype);
 *   MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Exchangev_init, 2008
 *   proposal section 2.1; cf. MPI_Neighbor_alltoallv, MPI 5.0 section 8.6.2.
 */
int MPIX_Iexchangev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Iexchangev, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as MPI_Aint.
 */
int MPIX_Iexchangev_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for an exchange: each run sends block k to member k of sendgroup, and
 * receives block k from member k of recvgroup, each of its own length and datatype.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in bytes
 *   sendtypes   in   committed datatype of the items for each member of sendgroup;
 *                    MPI_DATATYPE_NULL where there are none
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in bytes
 *   recvtypes   in   committed datatype of the items from each member of recvgroup;
 *                    MPI_DATATYPE_NULL where there are none
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, sendtypes,
 *   recvcounts, rdispls, recvtypes, request); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE
 *   (sendtypes, recvtypes); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM
 *   (comm); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Exchangev_init, 2008 proposal section 2.1, with a datatype for each block; cf.
 *   MPI_Neighbor_alltoallw, MPI 5.0 section 8.6.2.
 */
int MPIX_Exchangew_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* As MPIX_Exchangew_init, with sendcounts and recvcounts as MPI_Count. */
int MPIX_Exchangew_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends block k to member k of sendgroup, and receives block k from member k
 * of recvgroup, each of its own length and datatype.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in bytes
 *   sendtypes   in   committed datatype of the items for each member of sendgroup;
 *                    MPI_DATATYPE_NULL where there are none
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in bytes
 *   recvtypes   in   committed datatype of the items from each member of recvgroup;
 *                    MPI_DATATYPE_NULL where there are none
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, sendtypes,
 *   recvcounts, rdispls, recvtypes); MPI_ERR_COUNT (sendcounts, recvcounts, or less data arrives
 *   than is expected); MPI_ERR_TYPE (sendtypes, recvtypes); MPI_ERR_GROUP (sendgroup, recvgroup);
 *   MPI_ERR_COMM (comm); MPI_ERR_TRUNCATE (more data arrives than there is room for);
 *   MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: Motet, as the blocking form of: MPI_Exchangev_init, 2008 proposal section 2.1, with a
 *   datatype for each block; cf. MPI_Neighbor_alltoallw, MPI 5.0 section 8.6.2.
 */
int MPIX_Exchangew(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Exchangew, with sendcounts and recvcounts as MPI_Count. */
int MPIX_Exchangew_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends block k to member k of sendgroup, and receives block k from member k
 * of recvgroup, each of its own length and datatype.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in bytes
 *   sendtypes   in   committed datatype of the items for each member of sendgroup;
 *                    MPI_DATATYPE_NULL where there are none
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in bytes
 *   recvtypes   in   committed datatype of the items from each member of recvgroup;
 *                    MPI_DATATYPE_NULL where there are none
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, sendtypes,
 *   recvcounts, rdispls, recvtypes, request); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE
 *   (sendtypes, recvtypes); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Exchangev_init, 2008
 *   proposal section 2.1, with a datatype for each block; cf. MPI_Neighbor_alltoallw, MPI 5.0
 *   section 8.6.2.
 */
int MPIX_Iexchangew(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Iexchangew, with sendcounts and recvcounts as MPI_Count. */
int MPIX_Iexchangew_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for an exchange: each run sends one block to all members of sendgroup,
 * and receives block k from member k of recvgroup, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf    in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of recvgroup
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM
 *   (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not
 *   fit together).
 * Source: MPI_Neighbor_Bcast_init, 2008 proposal section 2.1; cf. MPI_Neighbor_allgather, MPI 5.0
 *   section 8.6.1.
 */
int MPIX_Neighbor_bcast_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Neighbor_bcast_init, with sendcount and recvcount as MPI_Count. */
int MPIX_Neighbor_bcast_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends one block to all members of sendgroup, and receives block k from
 * member k of recvgroup, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf    in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of recvgroup
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount, or less data
 *   arrives than is expected); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_GROUP (sendgroup,
 *   recvgroup); MPI_ERR_COMM (comm); MPI_ERR_TRUNCATE (more data arrives than there is room for);
 *   MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: Motet, as the blocking form of: MPI_Neighbor_Bcast_init, 2008 proposal section 2.1; cf.
 *   MPI_Neighbor_allgather, MPI 5.0 section 8.6.1.
 */
int MPIX_Neighbor_bcast(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Neighbor_bcast, with sendcount and recvcount as MPI_Count. */
int MPIX_Neighbor_bcast_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends one block to all members of sendgroup, and receives block k from
 * member k of recvgroup, all of one length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf    in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from member k of recvgroup
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Neighbor_Bcast_init, 2008
 *   proposal section 2.1; cf. MPI_Neighbor_allgather, MPI 5.0 section 8.6.1.
 */
int MPIX_Ineighbor_bcast(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Ineighbor_bcast, with sendcount and recvcount as MPI_Count. */
int MPIX_Ineighbor_bcast_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for an exchange: each run sends one block to all members of sendgroup,
 * and receives block k from member k of recvgroup, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf     in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, rdispls, request); MPI_ERR_GROUP (sendgroup,
 *   recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM (comm); MPI_ERR_NOT_SAME (with enforce, the calls
 *   of the ranks do not fit together).
 * Source: MPI_Neighbor_Bcastv_init, 2008 proposal section 2.1; cf. MPI_Neighbor_allgatherv, MPI 5.0
 *   section 8.6.1.
 */
int MPIX_Neighbor_bcastv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Neighbor_bcastv_init, with sendcount and recvcounts as MPI_Count, rdispls as MPI_Aint. */
int MPIX_Neighbor_bcastv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends one block to all members of sendgroup, and receives block k from
 * member k of recvgroup, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf     in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts, or less data
 *   arrives than is expected); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_ARG (recvcounts,
 *   rdispls); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm); MPI_ERR_TRUNCATE (more
 *   data arrives than there is room for); MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: Motet, as the blocking form of: MPI_Neighbor_Bcastv_init, 2008 proposal section 2.1; cf.
 *   MPI_Neighbor_allgatherv, MPI 5.0 section 8.6.1.
 */
int MPIX_Neighbor_bcastv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Neighbor_bcastv, with sendcount and recvcounts as MPI_Count, rdispls as MPI_Aint. */
int MPIX_Neighbor_bcastv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends one block to all members of sendgroup, and receives block k from
 * member k of recvgroup, each of its own length.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf     in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from member k of recvgroup
 *   recvcounts  in   number of items from each member of recvgroup
 *   rdispls     in   place of the block from each member of recvgroup in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, rdispls, request); MPI_ERR_GROUP (sendgroup,
 *   recvgroup); MPI_ERR_COMM (comm).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Neighbor_Bcastv_init, 2008
 *   proposal section 2.1; cf. MPI_Neighbor_allgatherv, MPI 5.0 section 8.6.1.
 */
int MPIX_Ineighbor_bcastv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Ineighbor_bcastv, with sendcount and recvcounts as MPI_Count, rdispls as MPI_Aint. */
int MPIX_Ineighbor_bcastv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* Make a persistent request for an exchange: each run sends block k to member k of sendgroup, and
 * combines with op what the members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf    in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   recvbuf    out  result; not written if recvgroup is empty
 *   count      in   number of items in each block of sendbuf, and in recvbuf
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of recvgroup unless it is commutative
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM
 *   (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not
 *   fit together).
 * Source: MPI_Neighbor_Reduce_init, 2008 proposal section 2.1 (without the operator).
 */
int MPIX_Neighbor_reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);

/* As MPIX_Neighbor_reduce_init, with count as MPI_Count. */
int MPIX_Neighbor_reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends block k to member k of sendgroup, and combines with op what the
 * members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf    in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   recvbuf    out  result; not written if recvgroup is empty
 *   count      in   number of items in each block of sendbuf, and in recvbuf
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of recvgroup unless it is commutative
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count, or less data arrives than is
 *   expected); MPI_ERR_TYPE (datatype); MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup);
 *   MPI_ERR_COMM (comm); MPI_ERR_TRUNCATE (more data arrives than there is room for);
 *   MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: Motet, as the blocking form of: MPI_Neighbor_Reduce_init, 2008 proposal section 2.1
 *   (without the operator).
 */
int MPIX_Neighbor_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Neighbor_reduce, with count as MPI_Count. */
int MPIX_Neighbor_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends block k to member k of sendgroup, and combines with op what the
 * members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf    in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   recvbuf    out  result; not written if recvgroup is empty
 *   count      in   number of items in each block of sendbuf, and in recvbuf
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of recvgroup unless it is commutative
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Neighbor_Reduce_init, 2008
 *   proposal section 2.1 (without the operator).
 */
int MPIX_Ineighbor_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Ineighbor_reduce, with count as MPI_Count. */
int MPIX_Ineighbor_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for an exchange: each run sends block k, of its own length, to member k
 * of sendgroup, and combines with op what the members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in extents of
 *                    sendtype
 *   sendtype    in   committed datatype of an item in sendbuf, with the elements of recvtype
 *   recvbuf     out  result; not written if recvgroup is empty
 *   recvcount   in   number of items in recvbuf
 *   recvtype    in   committed datatype of an item in recvbuf
 *   op          in   operator that is defined for recvtype, or that the program has made; applied
 *                    in the order of recvgroup unless it is commutative
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   info        in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                    and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, request);
 *   MPI_ERR_COUNT (sendcounts, recvcount); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_OP (op);
 *   MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM (comm);
 *   MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not fit together).
 * Source: MPI_Neighbor_Reducev_init, 2008 proposal section 2.1 (without the operator).
 */
int MPIX_Neighbor_reducev_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Neighbor_reducev_init, with sendcounts and recvcount as MPI_Count, sdispls as MPI_Aint.
 */
int MPIX_Neighbor_reducev_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends block k, of its own length, to member k of sendgroup, and combines
 * with op what the members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in extents of
 *                    sendtype
 *   sendtype    in   committed datatype of an item in sendbuf, with the elements of recvtype
 *   recvbuf     out  result; not written if recvgroup is empty
 *   recvcount   in   number of items in recvbuf
 *   recvtype    in   committed datatype of an item in recvbuf
 *   op          in   operator that is defined for recvtype, or that the program has made; applied
 *                    in the order of recvgroup unless it is commutative
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls); MPI_ERR_COUNT
 *   (sendcounts, recvcount, or less data arrives than is expected); MPI_ERR_TYPE (sendtype,
 *   recvtype); MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm);
 *   MPI_ERR_TRUNCATE (more data arrives than there is room for); MPI_ERR_PROC_ABORTED (a rank has
 *   died or left).
 * Source: Motet, as the blocking form of: MPI_Neighbor_Reducev_init, 2008 proposal section 2.1
 *   (without the operator).
 */
int MPIX_Neighbor_reducev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Neighbor_reducev, with sendcounts and recvcount as MPI_Count, sdispls as MPI_Aint. */
int MPIX_Neighbor_reducev_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends block k, of its own length, to member k of sendgroup, and combines
 * with op what the members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf     in   block k goes to member k of sendgroup; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each member of sendgroup
 *   sdispls     in   place of the block for each member of sendgroup in sendbuf, in extents of
 *                    sendtype
 *   sendtype    in   committed datatype of an item in sendbuf, with the elements of recvtype
 *   recvbuf     out  result; not written if recvgroup is empty
 *   recvcount   in   number of items in recvbuf
 *   recvtype    in   committed datatype of an item in recvbuf
 *   op          in   operator that is defined for recvtype, or that the program has made; applied
 *                    in the order of recvgroup unless it is commutative
 *   sendgroup   in   the ranks of comm that this rank sends to; may be empty and may include this
 *                    rank; MPI_GROUP_NULL is refused
 *   recvgroup   in   the ranks of comm that this rank receives from; may be empty and may include
 *                    this rank; MPI_GROUP_NULL is refused
 *   comm        in   communicator; an intercommunicator is refused
 *   request     out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, request);
 *   MPI_ERR_COUNT (sendcounts, recvcount); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_OP (op);
 *   MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Neighbor_Reducev_init, 2008
 *   proposal section 2.1 (without the operator).
 */
int MPIX_Ineighbor_reducev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Ineighbor_reducev, with sendcounts and recvcount as MPI_Count, sdispls as MPI_Aint. */
int MPIX_Ineighbor_reducev_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* Make a persistent request for an exchange: each run sends one block to all members of sendgroup,
 * and combines with op what the members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm, and starts the request equally often. If rank i names rank j in sendgroup, rank j names
 * rank i in recvgroup. A rank without neighbours passes empty groups. The call does not wait for
 * other ranks, unless the hint enforce is true.
 *
 *   sendbuf    in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   recvbuf    out  result; not written if recvgroup is empty
 *   count      in   number of items in sendbuf, and in recvbuf
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of recvgroup unless it is commutative
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   info       in   hints, the same on all ranks: enforce, nonblocking, blocking, reuse, previous
 *                   and deterministic may be true or false; MPI_INFO_NULL: no hints
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  inactive request, for MPI_Start; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_INFO (info); MPI_ERR_COMM
 *   (comm); MPI_ERR_ARG (request); MPI_ERR_NOT_SAME (with enforce, the calls of the ranks do not
 *   fit together).
 * Source: MPI_Neighbor_Reduce_init, 2008 proposal section 2.1 (without the operator), with one
 *   block for all.
 */
int MPIX_Neighbor_allreduce_init(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* As MPIX_Neighbor_allreduce_init, with count as MPI_Count. */
int MPIX_Neighbor_allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);

/* Run an exchange that sends one block to all members of sendgroup, and combines with op what the
 * members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call returns when the part of this rank is complete.
 *
 *   sendbuf    in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   recvbuf    out  result; not written if recvgroup is empty
 *   count      in   number of items in sendbuf, and in recvbuf
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of recvgroup unless it is commutative
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count, or less data arrives than is
 *   expected); MPI_ERR_TYPE (datatype); MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup);
 *   MPI_ERR_COMM (comm); MPI_ERR_TRUNCATE (more data arrives than there is room for);
 *   MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: Motet, as the blocking form of: MPI_Neighbor_Reduce_init, 2008 proposal section 2.1
 *   (without the operator), with one block for all.
 */
int MPIX_Neighbor_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* As MPIX_Neighbor_allreduce, with count as MPI_Count. */
int MPIX_Neighbor_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);

/* Start an exchange that sends one block to all members of sendgroup, and combines with op what the
 * members of recvgroup send to this rank.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. If rank i names rank j in sendgroup, rank j names rank i in recvgroup. A rank without
 * neighbours passes empty groups. The call does not wait for other ranks. The buffers belong to the
 * operation until request is complete.
 *
 *   sendbuf    in   block for each member of sendgroup; MPI_IN_PLACE is refused
 *   recvbuf    out  result; not written if recvgroup is empty
 *   count      in   number of items in sendbuf, and in recvbuf
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of recvgroup unless it is commutative
 *   sendgroup  in   the ranks of comm that this rank sends to; may be empty and may include this
 *                   rank; MPI_GROUP_NULL is refused
 *   recvgroup  in   the ranks of comm that this rank receives from; may be empty and may include
 *                   this rank; MPI_GROUP_NULL is refused
 *   comm       in   communicator; an intercommunicator is refused
 *   request    out  active request, for MPI_Wait or MPI_Test; MPI_REQUEST_NULL after an error
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_GROUP (sendgroup, recvgroup); MPI_ERR_COMM (comm); MPI_ERR_ARG
 *   (request).
 * Source: Motet, as the nonblocking form (MPI 5.0 section 6.12) of: MPI_Neighbor_Reduce_init, 2008
 *   proposal section 2.1 (without the operator), with one block for all.
 */
int MPIX_Ineighbor_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);

/* As MPIX_Ineighbor_allreduce, with count as MPI_Count. */
int MPIX_Ineighbor_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);

/* ===== Collectives in two phases ===== */

/* Begin a collective that completes at a rank only after all ranks have started it;
 * MPIX_Barrier_end completes it.
 *
 * Collective over comm, as is MPIX_Barrier_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Barrier_end returns.
 *
 *   comm  in  communicator or intercommunicator
 *
 * Errors: MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Barrier, MPI 5.0 section 6.3.
 */
int MPIX_Barrier_begin(MPI_Comm comm);

/* Complete the collective that MPIX_Barrier_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Barrier_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Barrier, MPI 5.0 section 6.3.
 */
int MPIX_Barrier_end(MPI_Comm comm);

/* Begin a collective that copies the data of root to all other ranks; MPIX_Bcast_end completes it.
 *
 * Collective over comm, as is MPIX_Bcast_end: every rank of comm calls both, in one order with all
 * other collectives of comm. The phases of a communicator are nested: the one that began last ends
 * first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Bcast_end returns.
 *
 *   buffer    inout  data: read at root, written at the other ranks; MPI_IN_PLACE is refused
 *   count     in     number of items in buffer
 *   datatype  in     committed datatype of an item
 *   root      in     rank of the root in comm; on an intercommunicator its rank in the remote
 *                    group, or MPI_ROOT at the root and MPI_PROC_NULL at the others of its group
 *   comm      in     communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (buffer); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype); MPI_ERR_ROOT
 *   (root); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Bcast, MPI 5.0 section 6.4.
 */
int MPIX_Bcast_begin(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);

/* As MPIX_Bcast_begin, with count as MPI_Count. */
int MPIX_Bcast_begin_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm);

/* Complete the collective that MPIX_Bcast_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Bcast_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Bcast, MPI 5.0 section 6.4.
 */
int MPIX_Bcast_end(MPI_Comm comm);

/* Begin a collective that collects a block from each rank at root, all of one length;
 * MPIX_Gather_end completes it.
 *
 * Collective over comm, as is MPIX_Gather_end: every rank of comm calls both, in one order with all
 * other collectives of comm. The phases of a communicator are nested: the one that began last ends
 * first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Gather_end returns.
 *
 *   sendbuf    in   block of this rank; MPI_IN_PLACE at root: the block is in recvbuf already
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from rank k of comm; written at root only
 *   recvcount  in   number of items in each block of recvbuf; read at root only
 *   recvtype   in   committed datatype of an item in recvbuf; read at root only
 *   root       in   rank of the root in comm; on an intercommunicator its rank in the remote group,
 *                   or MPI_ROOT at the root and MPI_PROC_NULL at the others of its group
 *   comm       in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                   and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ROOT (root); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Gather, MPI 5.0 section 6.5.
 */
int MPIX_Gather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* As MPIX_Gather_begin, with sendcount and recvcount as MPI_Count. */
int MPIX_Gather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Complete the collective that MPIX_Gather_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Gather_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Gather, MPI 5.0 section 6.5.
 */
int MPIX_Gather_end(MPI_Comm comm);

/* Begin a collective that collects a block from each rank at root, each of its own length;
 * MPIX_Gatherv_end completes it.
 *
 * Collective over comm, as is MPIX_Gatherv_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Gatherv_end returns.
 *
 *   sendbuf     in   block of this rank; MPI_IN_PLACE at root: the block is in recvbuf already
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from rank k of comm; written at root only
 *   recvcounts  in   number of items from each rank of comm; read at root only
 *   displs      in   place of the block from each rank of comm in recvbuf, in extents of recvtype;
 *                    read at root only
 *   recvtype    in   committed datatype of an item in recvbuf; read at root only
 *   root        in   rank of the root in comm; on an intercommunicator its rank in the remote
 *                    group, or MPI_ROOT at the root and MPI_PROC_NULL at the others of its group
 *   comm        in   communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, displs); MPI_ERR_ROOT (root); MPI_ERR_COMM
 *   (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Gatherv, MPI 5.0 section 6.5.
 */
int MPIX_Gatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm);

/* As MPIX_Gatherv_begin, with sendcount and recvcounts as MPI_Count, displs as MPI_Aint. */
int MPIX_Gatherv_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Comm comm);

/* Complete the collective that MPIX_Gatherv_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Gatherv_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Gatherv, MPI 5.0 section 6.5.
 */
int MPIX_Gatherv_end(MPI_Comm comm);

/* Begin a collective that sends a block from root to each rank, all of one length; MPIX_Scatter_end
 * completes it.
 *
 * Collective over comm, as is MPIX_Scatter_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Scatter_end returns.
 *
 *   sendbuf    in   block k goes to rank k of comm; read at root only
 *   sendcount  in   number of items in each block of sendbuf; read at root only
 *   sendtype   in   committed datatype of an item in sendbuf; read at root only
 *   recvbuf    out  block of this rank; MPI_IN_PLACE at root: the block stays in sendbuf
 *   recvcount  in   number of items in recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   root       in   rank of the root in comm; on an intercommunicator its rank in the remote group,
 *                   or MPI_ROOT at the root and MPI_PROC_NULL at the others of its group
 *   comm       in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                   and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ROOT (root); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Scatter, MPI 5.0 section 6.6.
 */
int MPIX_Scatter_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* As MPIX_Scatter_begin, with sendcount and recvcount as MPI_Count. */
int MPIX_Scatter_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Complete the collective that MPIX_Scatter_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Scatter_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Scatter, MPI 5.0 section 6.6.
 */
int MPIX_Scatter_end(MPI_Comm comm);

/* Begin a collective that sends a block from root to each rank, each of its own length;
 * MPIX_Scatterv_end completes it.
 *
 * Collective over comm, as is MPIX_Scatterv_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Scatterv_end returns.
 *
 *   sendbuf     in   block k goes to rank k of comm; read at root only
 *   sendcounts  in   number of items for each rank of comm; read at root only
 *   displs      in   place of the block for each rank of comm in sendbuf, in extents of sendtype;
 *                    read at root only
 *   sendtype    in   committed datatype of an item in sendbuf; read at root only
 *   recvbuf     out  block of this rank; MPI_IN_PLACE at root: the block stays in sendbuf
 *   recvcount   in   number of items in recvbuf
 *   recvtype    in   committed datatype of an item in recvbuf
 *   root        in   rank of the root in comm; on an intercommunicator its rank in the remote
 *                    group, or MPI_ROOT at the root and MPI_PROC_NULL at the others of its group
 *   comm        in   communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, displs); MPI_ERR_COUNT
 *   (sendcounts, recvcount); MPI_ERR_TYPE (sendtype, recvtype); MPI_ERR_ROOT (root); MPI_ERR_COMM
 *   (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Scatterv, MPI 5.0 section 6.6.
 */
int MPIX_Scatterv_begin(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);

/* As MPIX_Scatterv_begin, with sendcounts and recvcount as MPI_Count, displs as MPI_Aint. */
int MPIX_Scatterv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Complete the collective that MPIX_Scatterv_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Scatterv_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Scatterv, MPI 5.0 section 6.6.
 */
int MPIX_Scatterv_end(MPI_Comm comm);

/* Begin a collective that collects a block from each rank at all ranks, all of one length;
 * MPIX_Allgather_end completes it.
 *
 * Collective over comm, as is MPIX_Allgather_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Allgather_end returns.
 *
 *   sendbuf    in   block of this rank; MPI_IN_PLACE at all ranks: the block is in recvbuf already
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from rank k of comm
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   comm       in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                   and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Allgather, MPI 5.0 section 6.7.
 */
int MPIX_Allgather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Allgather_begin, with sendcount and recvcount as MPI_Count. */
int MPIX_Allgather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Allgather_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Allgather_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Allgather, MPI 5.0 section 6.7.
 */
int MPIX_Allgather_end(MPI_Comm comm);

/* Begin a collective that collects a block from each rank at all ranks, each of its own length;
 * MPIX_Allgatherv_end completes it.
 *
 * Collective over comm, as is MPIX_Allgatherv_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Allgatherv_end returns.
 *
 *   sendbuf     in   block of this rank; MPI_IN_PLACE at all ranks: the block is in recvbuf already
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from rank k of comm
 *   recvcounts  in   number of items from each rank of comm
 *   displs      in   place of the block from each rank of comm in recvbuf, in extents of recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   comm        in   communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, displs); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Allgatherv, MPI 5.0 section 6.7.
 */
int MPIX_Allgatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Allgatherv_begin, with sendcount and recvcounts as MPI_Count, displs as MPI_Aint. */
int MPIX_Allgatherv_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm);

/* Complete the collective that MPIX_Allgatherv_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Allgatherv_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Allgatherv, MPI 5.0 section 6.7.
 */
int MPIX_Allgatherv_end(MPI_Comm comm);

/* Begin a collective that sends a block from each rank to each rank, all of one length;
 * MPIX_Alltoall_end completes it.
 *
 * Collective over comm, as is MPIX_Alltoall_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Alltoall_end returns.
 *
 *   sendbuf    in   block k goes to rank k of comm; MPI_IN_PLACE at all ranks: the blocks are in
 *                   recvbuf, which the received ones replace
 *   sendcount  in   number of items in each block of sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from rank k of comm
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   comm       in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                   and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Alltoall, MPI 5.0 section 6.8.
 */
int MPIX_Alltoall_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Alltoall_begin, with sendcount and recvcount as MPI_Count. */
int MPIX_Alltoall_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Alltoall_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Alltoall_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Alltoall, MPI 5.0 section 6.8.
 */
int MPIX_Alltoall_end(MPI_Comm comm);

/* Begin a collective that sends a block from each rank to each rank, each of its own length;
 * MPIX_Alltoallv_end completes it.
 *
 * Collective over comm, as is MPIX_Alltoallv_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Alltoallv_end returns.
 *
 *   sendbuf     in   block k goes to rank k of comm; MPI_IN_PLACE at all ranks: the blocks are in
 *                    recvbuf, which the received ones replace
 *   sendcounts  in   number of items for each rank of comm
 *   sdispls     in   place of the block for each rank of comm in sendbuf, in extents of sendtype
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from rank k of comm
 *   recvcounts  in   number of items from each rank of comm
 *   rdispls     in   place of the block from each rank of comm in recvbuf, in extents of recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   comm        in   communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, recvcounts,
 *   rdispls); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE (sendtype, recvtype);
 *   MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Alltoallv, MPI 5.0 section 6.8.
 */
int MPIX_Alltoallv_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Alltoallv_begin, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as
 * MPI_Aint.
 */
int MPIX_Alltoallv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Alltoallv_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Alltoallv_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Alltoallv, MPI 5.0 section 6.8.
 */
int MPIX_Alltoallv_end(MPI_Comm comm);

/* Begin a collective that sends a block from each rank to each rank, each of its own length and
 * datatype; MPIX_Alltoallw_end completes it.
 *
 * Collective over comm, as is MPIX_Alltoallw_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Alltoallw_end returns.
 *
 *   sendbuf     in   block k goes to rank k of comm; MPI_IN_PLACE at all ranks: the blocks are in
 *                    recvbuf, which the received ones replace
 *   sendcounts  in   number of items for each rank of comm
 *   sdispls     in   place of the block for each rank of comm in sendbuf, in bytes
 *   sendtypes   in   committed datatype of the items for each rank of comm; MPI_DATATYPE_NULL where
 *                    there are none
 *   recvbuf     out  block k comes from rank k of comm
 *   recvcounts  in   number of items from each rank of comm
 *   rdispls     in   place of the block from each rank of comm in recvbuf, in bytes
 *   recvtypes   in   committed datatype of the items from each rank of comm; MPI_DATATYPE_NULL
 *                    where there are none
 *   comm        in   communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, sendtypes,
 *   recvcounts, rdispls, recvtypes); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE
 *   (sendtypes, recvtypes); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Alltoallw, MPI 5.0 section 6.8.
 */
int MPIX_Alltoallw_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);

/* As MPIX_Alltoallw_begin, with sendcounts and recvcounts as MPI_Count, sdispls and rdispls as
 * MPI_Aint.
 */
int MPIX_Alltoallw_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm);

/* Complete the collective that MPIX_Alltoallw_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Alltoallw_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Alltoallw, MPI 5.0 section 6.8.
 */
int MPIX_Alltoallw_end(MPI_Comm comm);

/* Begin a collective that combines the items of all ranks with op, and writes the result at root;
 * MPIX_Reduce_end completes it.
 *
 * Collective over comm, as is MPIX_Reduce_end: every rank of comm calls both, in one order with all
 * other collectives of comm. The phases of a communicator are nested: the one that began last ends
 * first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Reduce_end returns.
 *
 *   sendbuf   in   items of this rank; MPI_IN_PLACE at root: they are in recvbuf
 *   recvbuf   out  result; written at root only
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the ranks unless it is commutative
 *   root      in   rank of the root in comm; on an intercommunicator its rank in the remote group,
 *                  or MPI_ROOT at the root and MPI_PROC_NULL at the others of its group
 *   comm      in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                  and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_ROOT (root); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Reduce, MPI 5.0 section 6.9.1.
 */
int MPIX_Reduce_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm);

/* As MPIX_Reduce_begin, with count as MPI_Count. */
int MPIX_Reduce_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm);

/* Complete the collective that MPIX_Reduce_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Reduce_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Reduce, MPI 5.0 section 6.9.1.
 */
int MPIX_Reduce_end(MPI_Comm comm);

/* Begin a collective that combines the items of all ranks with op, and writes the result at each of
 * them; MPIX_Allreduce_end completes it.
 *
 * Collective over comm, as is MPIX_Allreduce_end: every rank of comm calls both, in one order with
 * all other collectives of comm. The phases of a communicator are nested: the one that began last
 * ends first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Allreduce_end returns.
 *
 *   sendbuf   in   items of this rank; MPI_IN_PLACE at all ranks: they are in recvbuf
 *   recvbuf   out  result
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the ranks unless it is commutative
 *   comm      in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                  and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Allreduce, MPI 5.0 section 6.9.6.
 */
int MPIX_Allreduce_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);

/* As MPIX_Allreduce_begin, with count as MPI_Count. */
int MPIX_Allreduce_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* Complete the collective that MPIX_Allreduce_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Allreduce_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Allreduce, MPI 5.0 section 6.9.6.
 */
int MPIX_Allreduce_end(MPI_Comm comm);

/* Begin a collective that combines the items of all ranks with op, and gives each of them a block
 * of the result, all of one length; MPIX_Reduce_scatter_block_end completes it.
 *
 * Collective over comm, as is MPIX_Reduce_scatter_block_end: every rank of comm calls both, in one
 * order with all other collectives of comm. The phases of a communicator are nested: the one that
 * began last ends first. The call does not wait for other ranks, but the proposal permits that it
 * waits. The buffers belong to the operation until MPIX_Reduce_scatter_block_end returns.
 *
 *   sendbuf    in   items of this rank; MPI_IN_PLACE at all ranks: they are in recvbuf
 *   recvbuf    out  block of the result for this rank
 *   recvcount  in   number of items in recvbuf, the same at all ranks; sendbuf has as many for each
 *   datatype   in   committed datatype of an item
 *   op         in   operator that is defined for datatype, or that the program has made; applied in
 *                   the order of the ranks unless it is commutative
 *   comm       in   communicator; on an intercommunicator blocks and lists are of the remote group,
 *                   and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (recvcount); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Reduce_scatter_block, MPI 5.0 section 6.10.1.
 */
int MPIX_Reduce_scatter_block_begin(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* As MPIX_Reduce_scatter_block_begin, with recvcount as MPI_Count. */
int MPIX_Reduce_scatter_block_begin_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* Complete the collective that MPIX_Reduce_scatter_block_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Reduce_scatter_block_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Reduce_scatter_block, MPI 5.0 section 6.10.1.
 */
int MPIX_Reduce_scatter_block_end(MPI_Comm comm);

/* Begin a collective that combines the items of all ranks with op, and gives each of them a block
 * of the result, each of its own length; MPIX_Reduce_scatter_end completes it.
 *
 * Collective over comm, as is MPIX_Reduce_scatter_end: every rank of comm calls both, in one order
 * with all other collectives of comm. The phases of a communicator are nested: the one that began
 * last ends first. The call does not wait for other ranks, but the proposal permits that it waits.
 * The buffers belong to the operation until MPIX_Reduce_scatter_end returns.
 *
 *   sendbuf     in   items of this rank; MPI_IN_PLACE at all ranks: they are in recvbuf
 *   recvbuf     out  block of the result for this rank
 *   recvcounts  in   number of items of the result for each rank, the same list at all of them
 *   datatype    in   committed datatype of an item
 *   op          in   operator that is defined for datatype, or that the program has made; applied
 *                    in the order of the ranks unless it is commutative
 *   comm        in   communicator; on an intercommunicator blocks and lists are of the remote
 *                    group, and MPI_IN_PLACE is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (recvcounts); MPI_ERR_COUNT (recvcounts);
 *   MPI_ERR_TYPE (datatype); MPI_ERR_OP (op); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Reduce_scatter, MPI 5.0 section 6.10.2.
 */
int MPIX_Reduce_scatter_begin(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* As MPIX_Reduce_scatter_begin, with recvcounts as MPI_Count. */
int MPIX_Reduce_scatter_begin_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* Complete the collective that MPIX_Reduce_scatter_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Reduce_scatter_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Reduce_scatter, MPI 5.0 section 6.10.2.
 */
int MPIX_Reduce_scatter_end(MPI_Comm comm);

/* Begin a collective that gives each rank the items of all ranks up to itself, combined with op;
 * MPIX_Scan_end completes it.
 *
 * Collective over comm, as is MPIX_Scan_end: every rank of comm calls both, in one order with all
 * other collectives of comm. The phases of a communicator are nested: the one that began last ends
 * first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Scan_end returns.
 *
 *   sendbuf   in   items of this rank; MPI_IN_PLACE at all ranks: they are in recvbuf
 *   recvbuf   out  result
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the ranks unless it is commutative
 *   comm      in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Scan, MPI 5.0 section 6.11.1.
 */
int MPIX_Scan_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);

/* As MPIX_Scan_begin, with count as MPI_Count. */
int MPIX_Scan_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);

/* Complete the collective that MPIX_Scan_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Scan_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Scan, MPI 5.0 section 6.11.1.
 */
int MPIX_Scan_end(MPI_Comm comm);

/* Begin a collective that gives each rank but the first the items of all ranks before it, combined
 * with op; MPIX_Exscan_end completes it.
 *
 * Collective over comm, as is MPIX_Exscan_end: every rank of comm calls both, in one order with all
 * other collectives of comm. The phases of a communicator are nested: the one that began last ends
 * first. The call does not wait for other ranks, but the proposal permits that it waits. The
 * buffers belong to the operation until MPIX_Exscan_end returns.
 *
 *   sendbuf   in   items of this rank; MPI_IN_PLACE at all ranks: they are in recvbuf
 *   recvbuf   out  result; not written at the first rank
 *   count     in   number of items in sendbuf, and in recvbuf
 *   datatype  in   committed datatype of an item
 *   op        in   operator that is defined for datatype, or that the program has made; applied in
 *                  the order of the ranks unless it is commutative
 *   comm      in   communicator; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (count); MPI_ERR_TYPE (datatype);
 *   MPI_ERR_OP (op); MPI_ERR_COMM (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Exscan, MPI 5.0 section 6.11.2.
 */
int MPIX_Exscan_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);

/* As MPIX_Exscan_begin, with count as MPI_Count. */
int MPIX_Exscan_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);

/* Complete the collective that MPIX_Exscan_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Exscan_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Exscan, MPI 5.0 section 6.11.2.
 */
int MPIX_Exscan_end(MPI_Comm comm);

/* Begin a collective that sends one block to all destinations in the topology of comm, and receives
 * a block from each source, all of one length; MPIX_Neighbor_allgather_end completes it.
 *
 * Collective over comm, as is MPIX_Neighbor_allgather_end: every rank of comm calls both, in one
 * order with all other collectives of comm. The phases of a communicator are nested: the one that
 * began last ends first. The call does not wait for other ranks, but the proposal permits that it
 * waits. The buffers belong to the operation until MPIX_Neighbor_allgather_end returns.
 *
 *   sendbuf    in   block for each destination in the topology; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from source k in the topology
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   comm       in   communicator with a topology; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_allgather, MPI 5.0 section 8.6.1.
 */
int MPIX_Neighbor_allgather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Neighbor_allgather_begin, with sendcount and recvcount as MPI_Count. */
int MPIX_Neighbor_allgather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Neighbor_allgather_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Neighbor_allgather_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_allgather, MPI 5.0 section 8.6.1.
 */
int MPIX_Neighbor_allgather_end(MPI_Comm comm);

/* Begin a collective that sends one block to all destinations in the topology of comm, and receives
 * a block from each source, each of its own length; MPIX_Neighbor_allgatherv_end completes it.
 *
 * Collective over comm, as is MPIX_Neighbor_allgatherv_end: every rank of comm calls both, in one
 * order with all other collectives of comm. The phases of a communicator are nested: the one that
 * began last ends first. The call does not wait for other ranks, but the proposal permits that it
 * waits. The buffers belong to the operation until MPIX_Neighbor_allgatherv_end returns.
 *
 *   sendbuf     in   block for each destination in the topology; MPI_IN_PLACE is refused
 *   sendcount   in   number of items in sendbuf
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from source k in the topology
 *   recvcounts  in   number of items from each source in the topology
 *   displs      in   place of the block from each source in the topology in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   comm        in   communicator with a topology; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcounts); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_ARG (recvcounts, displs); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY
 *   (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_allgatherv, MPI 5.0 section 8.6.1.
 */
int MPIX_Neighbor_allgatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm);

/* As MPIX_Neighbor_allgatherv_begin, with sendcount and recvcounts as MPI_Count, displs as
 * MPI_Aint.
 */
int MPIX_Neighbor_allgatherv_begin_c(const void *sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Neighbor_allgatherv_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Neighbor_allgatherv_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_allgatherv, MPI 5.0 section 8.6.1.
 */
int MPIX_Neighbor_allgatherv_end(MPI_Comm comm);

/* Begin a collective that sends a block to each destination in the topology of comm, and receives a
 * block from each source, all of one length; MPIX_Neighbor_alltoall_end completes it.
 *
 * Collective over comm, as is MPIX_Neighbor_alltoall_end: every rank of comm calls both, in one
 * order with all other collectives of comm. The phases of a communicator are nested: the one that
 * began last ends first. The call does not wait for other ranks, but the proposal permits that it
 * waits. The buffers belong to the operation until MPIX_Neighbor_alltoall_end returns.
 *
 *   sendbuf    in   block k goes to destination k in the topology; MPI_IN_PLACE is refused
 *   sendcount  in   number of items in each block of sendbuf
 *   sendtype   in   committed datatype of an item in sendbuf
 *   recvbuf    out  block k comes from source k in the topology
 *   recvcount  in   number of items in each block of recvbuf
 *   recvtype   in   committed datatype of an item in recvbuf
 *   comm       in   communicator with a topology; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_COUNT (sendcount, recvcount); MPI_ERR_TYPE
 *   (sendtype, recvtype); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_alltoall, MPI 5.0 section 8.6.2.
 */
int MPIX_Neighbor_alltoall_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Neighbor_alltoall_begin, with sendcount and recvcount as MPI_Count. */
int MPIX_Neighbor_alltoall_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Neighbor_alltoall_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Neighbor_alltoall_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_alltoall, MPI 5.0 section 8.6.2.
 */
int MPIX_Neighbor_alltoall_end(MPI_Comm comm);

/* Begin a collective that sends a block to each destination in the topology of comm, and receives a
 * block from each source, each of its own length; MPIX_Neighbor_alltoallv_end completes it.
 *
 * Collective over comm, as is MPIX_Neighbor_alltoallv_end: every rank of comm calls both, in one
 * order with all other collectives of comm. The phases of a communicator are nested: the one that
 * began last ends first. The call does not wait for other ranks, but the proposal permits that it
 * waits. The buffers belong to the operation until MPIX_Neighbor_alltoallv_end returns.
 *
 *   sendbuf     in   block k goes to destination k in the topology; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each destination in the topology
 *   sdispls     in   place of the block for each destination in the topology in sendbuf, in extents
 *                    of sendtype
 *   sendtype    in   committed datatype of an item in sendbuf
 *   recvbuf     out  block k comes from source k in the topology
 *   recvcounts  in   number of items from each source in the topology
 *   rdispls     in   place of the block from each source in the topology in recvbuf, in extents of
 *                    recvtype
 *   recvtype    in   committed datatype of an item in recvbuf
 *   comm        in   communicator with a topology; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, recvcounts,
 *   rdispls); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE (sendtype, recvtype);
 *   MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_alltoallv, MPI 5.0 section 8.6.2.
 */
int MPIX_Neighbor_alltoallv_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm);

/* As MPIX_Neighbor_alltoallv_begin, with sendcounts and recvcounts as MPI_Count, sdispls and
 * rdispls as MPI_Aint.
 */
int MPIX_Neighbor_alltoallv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* Complete the collective that MPIX_Neighbor_alltoallv_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Neighbor_alltoallv_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_alltoallv, MPI 5.0 section 8.6.2.
 */
int MPIX_Neighbor_alltoallv_end(MPI_Comm comm);

/* Begin a collective that sends a block to each destination in the topology of comm, and receives a
 * block from each source, each of its own length and datatype; MPIX_Neighbor_alltoallw_end
 * completes it.
 *
 * Collective over comm, as is MPIX_Neighbor_alltoallw_end: every rank of comm calls both, in one
 * order with all other collectives of comm. The phases of a communicator are nested: the one that
 * began last ends first. The call does not wait for other ranks, but the proposal permits that it
 * waits. The buffers belong to the operation until MPIX_Neighbor_alltoallw_end returns.
 *
 *   sendbuf     in   block k goes to destination k in the topology; MPI_IN_PLACE is refused
 *   sendcounts  in   number of items for each destination in the topology
 *   sdispls     in   place of the block for each destination in the topology in sendbuf, in bytes
 *   sendtypes   in   committed datatype of the items for each destination in the topology;
 *                    MPI_DATATYPE_NULL where there are none
 *   recvbuf     out  block k comes from source k in the topology
 *   recvcounts  in   number of items from each source in the topology
 *   rdispls     in   place of the block from each source in the topology in recvbuf, in bytes
 *   recvtypes   in   committed datatype of the items from each source in the topology;
 *                    MPI_DATATYPE_NULL where there are none
 *   comm        in   communicator with a topology; an intercommunicator is refused
 *
 * Errors: MPI_ERR_BUFFER (sendbuf, recvbuf); MPI_ERR_ARG (sendcounts, sdispls, sendtypes,
 *   recvcounts, rdispls, recvtypes); MPI_ERR_COUNT (sendcounts, recvcounts); MPI_ERR_TYPE
 *   (sendtypes, recvtypes); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY (comm).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_alltoallw, MPI 5.0 section 8.6.2.
 */
int MPIX_Neighbor_alltoallw_begin(const void *sendbuf, const int sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/* As MPIX_Neighbor_alltoallw_begin, with sendcounts and recvcounts as MPI_Count. */
int MPIX_Neighbor_alltoallw_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm);

/* Complete the collective that MPIX_Neighbor_alltoallw_begin began on comm.
 *
 * Collective over comm: every rank of comm calls it, in the same order. The collective must be the
 * innermost open phase of comm. The call waits until the part of this rank is complete.
 *
 *   comm  in  communicator that was passed to MPIX_Neighbor_alltoallw_begin
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_OTHER (no phase is open on comm, or the innermost one is of
 *   another collective; no phase ends); MPI_ERR_PROC_ABORTED (a rank has died or left; likewise the
 *   class of any other failure of the collective).
 * Source: 1997 two-phase proposal, option 3; MPI_Neighbor_alltoallw, MPI 5.0 section 8.6.2.
 */
int MPIX_Neighbor_alltoallw_end(MPI_Comm comm);

/* ===== Topologies as groups ===== */

/* Make the group of the ranks that are distance steps away from this rank along one of the selected
 * dimensions, in either direction.
 *
 * Local: it does not communicate. An exchange takes the group as it is.
 *
 *   selected_dims  in   one entry for each dimension of the grid: not 0 where the way may lead
 *                       along it
 *   distance       in   number of steps, at least 0; 0 gives this rank; in a periodic dimension the
 *                       way continues over the end
 *   comm           in   communicator with a Cartesian topology
 *   group          out  the ranks in ascending order, each once; the program frees it
 *
 * Errors: MPI_ERR_ARG (selected_dims, distance, group); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY
 *   (comm).
 * Source: MPI_Cart_neighbor_group, 2008 proposal section 3.
 */
int MPIX_Cart_neighbor_group(const int selected_dims[], int distance, MPI_Comm comm,
    MPI_Group *group);

/* Make the group of the ranks whose shortest way from this rank has distance steps in all selected
 * dimensions together.
 *
 * Local: it does not communicate. An exchange takes the group as it is.
 *
 *   selected_dims  in   one entry for each dimension of the grid: not 0 where the way may lead
 *                       along it
 *   distance       in   number of steps, at least 0; 0 gives this rank; in a periodic dimension the
 *                       shortest way may lead over the end
 *   comm           in   communicator with a Cartesian topology
 *   group          out  the ranks in ascending order, each once; the program frees it
 *
 * Errors: MPI_ERR_ARG (selected_dims, distance, group); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY
 *   (comm).
 * Source: Motet, in addition to MPI_Cart_neighbor_group of 2008 proposal section 3.
 */
int MPIX_Cart_sphere_group(const int selected_dims[], int distance, MPI_Comm comm,
    MPI_Group *group);

/* Make the group of the ranks whose shortest way from this rank has distance steps in the selected
 * dimension in which it has most.
 *
 * Local: it does not communicate. An exchange takes the group as it is.
 *
 *   selected_dims  in   one entry for each dimension of the grid: not 0 where the way may lead
 *                       along it
 *   distance       in   number of steps, at least 0; 0 gives this rank; in a periodic dimension the
 *                       shortest way may lead over the end
 *   comm           in   communicator with a Cartesian topology
 *   group          out  the ranks in ascending order, each once; the program frees it
 *
 * Errors: MPI_ERR_ARG (selected_dims, distance, group); MPI_ERR_COMM (comm); MPI_ERR_TOPOLOGY
 *   (comm).
 * Source: Motet, in addition to MPI_Cart_neighbor_group of 2008 proposal section 3.
 */
int MPIX_Cart_box_group(const int selected_dims[], int distance, MPI_Comm comm, MPI_Group *group);

/* Make a communicator with the graph in which each rank sends to the members of its outgroup.
 *
 * Collective over comm: every rank of comm calls it, in one order with all other collectives of
 * comm. The call waits for other ranks.
 *
 *   comm       in   communicator; an intercommunicator is refused
 *   outgroup   in   the ranks of comm that this rank sends to, in the order of its blocks; may be
 *                   empty; MPI_GROUP_NULL is refused
 *   messages   in   number of messages for each member of outgroup, at least 0; NULL or
 *                   MPI_UNWEIGHTED: unknown
 *   bytes      in   number of bytes for each member of outgroup, at least 0; NULL or
 *                   MPI_UNWEIGHTED: unknown
 *   reorder    in   0: this process keeps its rank; else it may get another; may differ between
 *                   ranks
 *   info       in   hints for reordering, read at rank 0: latency, bandwidth, maxcut and totalcut
 *                   may be true or false; MPI_INFO_NULL: no hints
 *   graphcomm  out  the new communicator; MPI_COMM_NULL after an error
 *
 * Errors: MPI_ERR_COMM (comm); MPI_ERR_GROUP (outgroup); MPI_ERR_ARG (messages, bytes, graphcomm);
 *   MPI_ERR_INFO (info); MPI_ERR_PROC_ABORTED (a rank has died or left).
 * Source: MPI_Graph_create, 2008 proposal section 3.
 */
int MPIX_Graph_create(MPI_Comm comm, MPI_Group outgroup, const MPI_Count messages[],
    const MPI_Count bytes[], int reorder, MPI_Info info, MPI_Comm *graphcomm);

/* Make the groups of the ranks that this rank sends to, and that send to it, in the graph of
 * graphcomm.
 *
 * Local: it does not communicate. An exchange takes the groups as they are.
 *
 *   graphcomm  in   communicator with a graph, made by MPIX_Graph_create or by a function of the
 *                   standard
 *   outgroup   out  the ranks that this rank sends to, in the order of the graph, each once; the
 *                   program frees it
 *   ingroup    out  the ranks that send to this rank, in the order of the graph, each once; the
 *                   program frees it
 *
 * Errors: MPI_ERR_COMM (graphcomm); MPI_ERR_TOPOLOGY (graphcomm); MPI_ERR_ARG (outgroup, ingroup).
 * Source: MPI_Graph_neighbor_groups, 2008 proposal section 3.
 */
int MPIX_Graph_neighbor_groups(MPI_Comm graphcomm, MPI_Group *outgroup, MPI_Group *ingroup);

/* ===== What an operation does ===== */

/* Write which algorithm a collective runs and why, its messages, and the predicted time, as a text.
 *
 * Local: it does not communicate, and does not change the request. An error goes to the error
 * handler of MPI_COMM_SELF if the program has set that, else to that of MPI_COMM_WORLD.
 *
 *   request  in   request of a collective; of another operation the text says that there is no
 *                 plan; MPI_REQUEST_NULL is refused
 *   text     out  the text in UTF-8, as much of it as fits, with a zero byte at its end; may be
 *                 NULL if size is 0
 *   size     in   room at text in bytes, at least 0
 *   length   out  length of the whole text in bytes, without the zero byte
 *
 * Errors: MPI_ERR_REQUEST (request); MPI_ERR_ARG (text, size, length).
 * Source: Motet; in none of the proposals, and not in the standard.
 */
int MPIX_Explain(MPI_Request request, char *text, int size, int *length);

/* The same for tools that have the names above. */
int PMPIX_Barrier_init(MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchange_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchange_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchange(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Exchange_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Comm comm);
int PMPIX_Iexchange(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Iexchange_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchangev_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Exchangev_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchangev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Exchangev_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Iexchangev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Iexchangev_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Exchangew_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchangew_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Exchangew(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Exchangew_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Iexchangew(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Iexchangew_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_bcast_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_bcast_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_bcast(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Neighbor_bcast_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Ineighbor_bcast(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Ineighbor_bcast_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_bcastv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_bcastv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_bcastv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Neighbor_bcastv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Ineighbor_bcastv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Ineighbor_bcastv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Neighbor_reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Neighbor_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Ineighbor_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Ineighbor_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Neighbor_reducev_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_reducev_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_reducev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Neighbor_reducev_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Ineighbor_reducev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Ineighbor_reducev_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Neighbor_allreduce_init(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int PMPIX_Neighbor_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Neighbor_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int PMPIX_Ineighbor_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int PMPIX_Ineighbor_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int PMPIX_Barrier_begin(MPI_Comm comm);
int PMPIX_Barrier_end(MPI_Comm comm);
int PMPIX_Bcast_begin(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int PMPIX_Bcast_begin_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm);
int PMPIX_Bcast_end(MPI_Comm comm);
int PMPIX_Gather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPIX_Gather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPIX_Gather_end(MPI_Comm comm);
int PMPIX_Gatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPIX_Gatherv_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Comm comm);
int PMPIX_Gatherv_end(MPI_Comm comm);
int PMPIX_Scatter_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPIX_Scatter_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPIX_Scatter_end(MPI_Comm comm);
int PMPIX_Scatterv_begin(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);
int PMPIX_Scatterv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPIX_Scatterv_end(MPI_Comm comm);
int PMPIX_Allgather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Allgather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Allgather_end(MPI_Comm comm);
int PMPIX_Allgatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Allgatherv_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm);
int PMPIX_Allgatherv_end(MPI_Comm comm);
int PMPIX_Alltoall_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Alltoall_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Alltoall_end(MPI_Comm comm);
int PMPIX_Alltoallv_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Alltoallv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Alltoallv_end(MPI_Comm comm);
int PMPIX_Alltoallw_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);
int PMPIX_Alltoallw_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm);
int PMPIX_Alltoallw_end(MPI_Comm comm);
int PMPIX_Reduce_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm);
int PMPIX_Reduce_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm);
int PMPIX_Reduce_end(MPI_Comm comm);
int PMPIX_Allreduce_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int PMPIX_Allreduce_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPIX_Allreduce_end(MPI_Comm comm);
int PMPIX_Reduce_scatter_block_begin(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPIX_Reduce_scatter_block_begin_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPIX_Reduce_scatter_block_end(MPI_Comm comm);
int PMPIX_Reduce_scatter_begin(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPIX_Reduce_scatter_begin_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPIX_Reduce_scatter_end(MPI_Comm comm);
int PMPIX_Scan_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int PMPIX_Scan_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int PMPIX_Scan_end(MPI_Comm comm);
int PMPIX_Exscan_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int PMPIX_Exscan_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int PMPIX_Exscan_end(MPI_Comm comm);
int PMPIX_Neighbor_allgather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Neighbor_allgather_begin_c(const void *sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm);
int PMPIX_Neighbor_allgather_end(MPI_Comm comm);
int PMPIX_Neighbor_allgatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm);
int PMPIX_Neighbor_allgatherv_begin_c(const void *sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Neighbor_allgatherv_end(MPI_Comm comm);
int PMPIX_Neighbor_alltoall_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Neighbor_alltoall_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Neighbor_alltoall_end(MPI_Comm comm);
int PMPIX_Neighbor_alltoallv_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Neighbor_alltoallv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int PMPIX_Neighbor_alltoallv_end(MPI_Comm comm);
int PMPIX_Neighbor_alltoallw_begin(const void *sendbuf, const int sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int PMPIX_Neighbor_alltoallw_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm);
int PMPIX_Neighbor_alltoallw_end(MPI_Comm comm);
int PMPIX_Cart_neighbor_group(const int selected_dims[], int distance, MPI_Comm comm,
    MPI_Group *group);
int PMPIX_Cart_sphere_group(const int selected_dims[], int distance, MPI_Comm comm,
    MPI_Group *group);
int PMPIX_Cart_box_group(const int selected_dims[], int distance, MPI_Comm comm, MPI_Group *group);
int PMPIX_Graph_create(MPI_Comm comm, MPI_Group outgroup, const MPI_Count messages[],
    const MPI_Count bytes[], int reorder, MPI_Info info, MPI_Comm *graphcomm);
int PMPIX_Graph_neighbor_groups(MPI_Comm graphcomm, MPI_Group *outgroup, MPI_Group *ingroup);
int PMPIX_Explain(MPI_Request request, char *text, int size, int *length);

#ifdef __cplusplus
}
#endif

#endif /* MOTET_MPIX_H */
