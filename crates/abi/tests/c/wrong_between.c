/* Communicators of the wrong kind, and roots between two groups.
 *
 * ranks: 2 3
 * spec: 66, 76, 86
 */

#include "check.h"

static int rank, size, group, a, b, c[16], counts[16], flag;
static MPI_Comm between, comm;
static MPI_Request request;

/* What is for one group of ranks only. */
static void one_group_only(void) {
    int dims[1] = {1}, periods[1] = {0};
    ERR(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, between), MPI_ERR_COMM);
    ERR(MPI_Iscan(&a, &b, 1, MPI_INT, MPI_SUM, between, &request), MPI_ERR_COMM);
    ERR(MPI_Scan_init(&a, &b, 1, MPI_INT, MPI_SUM, between, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    ERR(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, between), MPI_ERR_COMM);
    ERR(MPI_Iexscan(&a, &b, 1, MPI_INT, MPI_SUM, between, &request), MPI_ERR_COMM);
    ERR(MPI_Exscan_init(&a, &b, 1, MPI_INT, MPI_SUM, between, MPI_INFO_NULL, &request),
        MPI_ERR_COMM);
    ERR(MPI_Neighbor_allgather(&a, 1, MPI_INT, c, 1, MPI_INT, between), MPI_ERR_COMM);
    ERR(MPI_Ineighbor_alltoall(&a, 1, MPI_INT, c, 1, MPI_INT, between, &request), MPI_ERR_COMM);
    ERR(MPI_Neighbor_alltoall_init(&a, 1, MPI_INT, c, 1, MPI_INT, between, MPI_INFO_NULL, &request),
        MPI_ERR_COMM);
    ERR(MPI_Cart_create(between, 1, dims, periods, 0, &comm), MPI_ERR_COMM);
    ERR(MPI_Graph_create(between, 0, c, c, 0, &comm), MPI_ERR_COMM);
    ERR(MPI_Dist_graph_create(between, 0, c, c, c, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
        MPI_ERR_COMM);
    ERR(MPI_Intercomm_create(between, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM);
}

/* Nothing is in place between groups. */
static void in_place(void) {
    int root = group == 0 ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0;
    ERR(MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, between), MPI_ERR_BUFFER);
    ERR(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, between), MPI_ERR_BUFFER);
    ERR(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, between), MPI_ERR_BUFFER);
    ERR(MPI_Iallgatherv(MPI_IN_PLACE, 1, MPI_INT, c, counts, counts, MPI_INT, between, &request),
        MPI_ERR_BUFFER);
    ERR(MPI_Reduce_scatter_block_init(MPI_IN_PLACE, c, 1, MPI_INT, MPI_SUM, between, MPI_INFO_NULL,
                                      &request), MPI_ERR_BUFFER);
    if (group == 1) {
        ERR(MPI_Reduce(MPI_IN_PLACE, c, 1, MPI_INT, MPI_SUM, root, between), MPI_ERR_BUFFER);
        ERR(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, root, between), MPI_ERR_BUFFER);
        ERR(MPI_Scatter(c, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, between), MPI_ERR_BUFFER);
    }
}

static void roots(void) {
    int far;
    OK(MPI_Comm_remote_size(between, &far));
    const int wrong[] = {far, -1, MPI_UNDEFINED, -100};
    for (int i = 0; i < 4; i++) {
        ERR(MPI_Bcast(&a, 1, MPI_INT, wrong[i], between), MPI_ERR_ROOT);
        ERR(MPI_Ibcast(&a, 1, MPI_INT, wrong[i], between, &request), MPI_ERR_ROOT);
        CHECK(request == MPI_REQUEST_NULL);
        ERR(MPI_Gather_init(&a, 1, MPI_INT, c, 1, MPI_INT, wrong[i], between, MPI_INFO_NULL,
                            &request), MPI_ERR_ROOT);
        ERR(MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, wrong[i], between), MPI_ERR_ROOT);
    }
    /* Within one group these two mean nothing. */
    ERR(MPI_Bcast(&a, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
    ERR(MPI_Bcast(&a, 1, MPI_INT, MPI_PROC_NULL, MPI_COMM_WORLD), MPI_ERR_ROOT);
    ERR(MPI_Send(&a, 1, MPI_INT, far, 0, between), MPI_ERR_RANK);
}

int main(int argc, char **argv) {
    MPI_Comm local;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    group = rank > 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, group, rank, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - group, 1, &between));
    /* A communicator has the error handler of the one that it was made from. */
    for (int i = 0; i < 16; i++) counts[i] = 1;
    one_group_only();
    in_place();
    roots();
    OK(MPI_Comm_test_inter(between, &flag));
    CHECK_EQ(flag, 1);
    int one = 1, all = 0;
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, between));
    CHECK_EQ(all, group == 0 ? size - 1 : 1);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&local));
    OK(MPI_Finalize());
    return 0;
}
