/* What Motet has in C and the standard has not.
 *
 * Made from crates/abi/tables/extensions.tsv like mpi.h. A program that uses it runs with Motet
 * only.
 */

#ifndef MOTET_MPIX_H
#define MOTET_MPIX_H

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions. */
int MPIX_Barrier_init(MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Group group,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group group, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group group, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Exchange_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Exchange_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Exchange(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Exchange_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Comm comm);
int MPIX_Iexchange(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Iexchange_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Exchangev_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Exchangev_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Exchangev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Exchangev_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Iexchangev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Iexchangev_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Exchangew_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Exchangew_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Exchangew(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Exchangew_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Iexchangew(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Iexchangew_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_bcast_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup,
    MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_bcast_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_bcast(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Neighbor_bcast_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Ineighbor_bcast(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Ineighbor_bcast_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_bcastv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_bcastv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_bcastv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Neighbor_bcastv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Ineighbor_bcastv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Group sendgroup,
    MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Ineighbor_bcastv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Neighbor_reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Neighbor_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Ineighbor_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Ineighbor_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Neighbor_reducev_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info, MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_reducev_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_reducev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Neighbor_reducev_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Ineighbor_reducev(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Op op,
    MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Ineighbor_reducev_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Neighbor_allreduce_init(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Info info,
    MPI_Comm comm, MPI_Request *request);
int MPIX_Neighbor_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Neighbor_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm);
int MPIX_Ineighbor_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm, MPI_Request *request);
int MPIX_Ineighbor_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Group sendgroup, MPI_Group recvgroup, MPI_Comm comm,
    MPI_Request *request);
int MPIX_Barrier_begin(MPI_Comm comm);
int MPIX_Barrier_end(MPI_Comm comm);
int MPIX_Bcast_begin(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPIX_Bcast_begin_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm);
int MPIX_Bcast_end(MPI_Comm comm);
int MPIX_Gather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPIX_Gather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPIX_Gather_end(MPI_Comm comm);
int MPIX_Gatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPIX_Gatherv_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Comm comm);
int MPIX_Gatherv_end(MPI_Comm comm);
int MPIX_Scatter_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPIX_Scatter_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPIX_Scatter_end(MPI_Comm comm);
int MPIX_Scatterv_begin(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);
int MPIX_Scatterv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPIX_Scatterv_end(MPI_Comm comm);
int MPIX_Allgather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Allgather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Allgather_end(MPI_Comm comm);
int MPIX_Allgatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Allgatherv_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm);
int MPIX_Allgatherv_end(MPI_Comm comm);
int MPIX_Alltoall_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Alltoall_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Alltoall_end(MPI_Comm comm);
int MPIX_Alltoallv_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Alltoallv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Alltoallv_end(MPI_Comm comm);
int MPIX_Alltoallw_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPIX_Alltoallw_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm);
int MPIX_Alltoallw_end(MPI_Comm comm);
int MPIX_Reduce_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm);
int MPIX_Reduce_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm);
int MPIX_Reduce_end(MPI_Comm comm);
int MPIX_Allreduce_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int MPIX_Allreduce_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPIX_Allreduce_end(MPI_Comm comm);
int MPIX_Reduce_scatter_block_begin(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPIX_Reduce_scatter_block_begin_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPIX_Reduce_scatter_block_end(MPI_Comm comm);
int MPIX_Reduce_scatter_begin(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPIX_Reduce_scatter_begin_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPIX_Reduce_scatter_end(MPI_Comm comm);
int MPIX_Scan_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);
int MPIX_Scan_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int MPIX_Scan_end(MPI_Comm comm);
int MPIX_Exscan_begin(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int MPIX_Exscan_begin_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm);
int MPIX_Exscan_end(MPI_Comm comm);
int MPIX_Neighbor_allgather_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_allgather_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_allgather_end(MPI_Comm comm);
int MPIX_Neighbor_allgatherv_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm);
int MPIX_Neighbor_allgatherv_begin_c(const void *sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_allgatherv_end(MPI_Comm comm);
int MPIX_Neighbor_alltoall_begin(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_alltoall_begin_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_alltoall_end(MPI_Comm comm);
int MPIX_Neighbor_alltoallv_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_alltoallv_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPIX_Neighbor_alltoallv_end(MPI_Comm comm);
int MPIX_Neighbor_alltoallw_begin(const void *sendbuf, const int sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPIX_Neighbor_alltoallw_begin_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm);
int MPIX_Neighbor_alltoallw_end(MPI_Comm comm);
int MPIX_Cart_neighbor_group(const int selected_dims[], int distance, MPI_Comm comm,
    MPI_Group *group);
int MPIX_Cart_sphere_group(const int selected_dims[], int distance, MPI_Comm comm,
    MPI_Group *group);
int MPIX_Cart_box_group(const int selected_dims[], int distance, MPI_Comm comm, MPI_Group *group);
int MPIX_Graph_create(MPI_Comm comm, MPI_Group outgroup, const MPI_Count messages[],
    const MPI_Count bytes[], int reorder, MPI_Info info, MPI_Comm *graphcomm);
int MPIX_Graph_neighbor_groups(MPI_Comm graphcomm, MPI_Group *outgroup, MPI_Group *ingroup);
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
