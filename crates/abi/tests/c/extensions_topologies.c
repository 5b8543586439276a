/* Topologies as groups (2008), used in exchanges, and what the library tells of an operation.
 *
 * ranks: 1 2 3 4
 * spec: 128, 129, 130, 131, 132, 144
 */

#include <mpix.h>

#include "check.h"

static int rank, size;

/* Whether a group has just these ranks of a communicator, in whatever order. */
static void check_group(MPI_Group group, MPI_Comm comm, int count, const int *ranks) {
    MPI_Group all, expected;
    int alike = MPI_UNEQUAL;
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_incl(all, count, ranks, &expected));
    OK(MPI_Group_compare(group, expected, &alike));
    CHECK(alike == MPI_IDENT || alike == MPI_SIMILAR);
    OK(MPI_Group_free(&expected));
    OK(MPI_Group_free(&all));
}

static void around(MPI_Comm grid, const int *selected, int distance, int count, const int *ranks) {
    MPI_Group group = MPI_GROUP_NULL;
    OK(MPIX_Cart_neighbor_group(selected, distance, grid, &group));
    check_group(group, grid, count, ranks);
    OK(MPI_Group_free(&group));
}

static void rings(void) {
    MPI_Comm grid;
    int dims[] = {size, 1}, ring[] = {1, 0}, yes[] = {1, 1}, no[] = {0, 1};
    int left = (rank + size - 1) % size, right = (rank + 1) % size, both[] = {left, right};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, ring, 0, &grid));
    around(grid, yes, 0, 1, &rank);
    /* Whoever is met twice is in the group once. */
    around(grid, yes, 1, left == right ? 1 : 2, both);
    around(grid, no, 1, 0, both);
    around(grid, yes, size, 1, &rank);
    OK(MPI_Comm_free(&grid));
}

/* Two by two without rings: a rank beside, one below, and one across. */
static void squares(void) {
    MPI_Comm grid;
    MPI_Group group = MPI_GROUP_NULL;
    int dims[] = {2, 2}, open[] = {0, 0}, yes[] = {1, 1}, first[] = {1, 0};
    int beside = rank ^ 1, below = rank ^ 2, across = rank ^ 3;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &grid));
    int near[] = {beside, below}, box[] = {beside, below, across};
    around(grid, yes, 1, 2, near);
    around(grid, first, 1, 1, &below);
    around(grid, yes, 2, 0, near);
    OK(MPIX_Cart_sphere_group(yes, 2, grid, &group));
    check_group(group, grid, 1, &across);
    OK(MPI_Group_free(&group));
    OK(MPIX_Cart_box_group(yes, 1, grid, &group));
    check_group(group, grid, 3, box);
    OK(MPI_Group_free(&group));
    /* Data goes to them. */
    int got[3] = {-1, -1, -1}, members[3] = {0, 1, 2}, ranks[3];
    MPI_Group all;
    OK(MPIX_Cart_box_group(yes, 1, grid, &group));
    OK(MPI_Comm_group(grid, &all));
    OK(MPI_Group_translate_ranks(group, 3, members, all, ranks));
    OK(MPIX_Neighbor_bcast(&rank, 1, MPI_INT, got, 1, MPI_INT, group, group, grid));
    for (int k = 0; k < 3; ++k) CHECK_EQ(got[k], ranks[k]);
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&grid));
}

/* A chain of which each rank knows whom it sends to: all but the last, the next one and itself. */
static void graphs(const MPI_Count *messages, const MPI_Count *bytes, int reorder) {
    MPI_Group all, outgroup, to, from;
    MPI_Comm graph;
    MPI_Info info;
    int targets[] = {rank + 1, rank}, before[] = {rank, rank - 1}, own;
    int is_last = rank == size - 1, out = is_last ? 0 : 2;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, out, targets, &outgroup));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "bandwidth", "true"));
    OK(MPI_Info_set(info, "totalcut", "true"));
    OK(MPIX_Graph_create(MPI_COMM_WORLD, outgroup, messages, bytes, reorder, info, &graph));
    OK(MPI_Comm_rank(graph, &own));
    /* With reorder a process may have become another rank, if neighbours come to one host by that. */
    if (!reorder) CHECK_EQ(own, rank);
    is_last = own == size - 1, out = is_last ? 0 : 2;
    targets[0] = own + 1, targets[1] = before[0] = own, before[1] = own - 1;
    OK(MPI_Group_free(&all));
    OK(MPI_Comm_group(graph, &all));
    OK(MPIX_Graph_neighbor_groups(graph, &to, &from));
    check_group(to, graph, out, targets);
    int has_before = own > 0;
    int in = has_before + !is_last;
    check_group(from, graph, in, is_last ? before + 1 : before);
    /* The groups are good for an exchange, and the edges for collectives among neighbours. */
    int sent = 10 + own, got[2] = {-1, -1}, members[] = {0, 1}, ranks[2];
    OK(MPIX_Neighbor_bcast(&sent, 1, MPI_INT, got, 1, MPI_INT, to, from, graph));
    OK(MPI_Group_translate_ranks(from, in, members, all, ranks));
    for (int k = 0; k < in; ++k) CHECK_EQ(got[k], 10 + ranks[k]);
    int total = 0;
    got[0] = got[1] = 0;
    OK(MPI_Neighbor_allgather(&sent, 1, MPI_INT, got, 1, MPI_INT, graph));
    total = (has_before ? 9 + own : 0) + (is_last ? 0 : 10 + own);
    CHECK_EQ(got[0] + got[1], total);
    int status = -1;
    OK(MPI_Topo_test(graph, &status));
    CHECK_EQ(status, MPI_DIST_GRAPH);
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
    OK(MPI_Group_free(&outgroup));
    OK(MPI_Group_free(&all));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&graph));
}

static void explained(void) {
    MPI_Request request;
    int one = 1, sum = 0, length = -1, again = -1;
    char text[4096], little[8];
    OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    OK(MPIX_Explain(request, NULL, 0, &length));
    CHECK(length > 20 && length < (int)sizeof text);
    OK(MPIX_Explain(request, text, sizeof text, &again));
    CHECK_EQ(again, length);
    CHECK_EQ(strlen(text), length);
    CHECK(strncmp(text, "allreduce_init: ", 16) == 0);
    OK(MPIX_Explain(request, little, sizeof little, &again));
    CHECK_EQ(again, length);
    CHECK_TEXT(little, "allredu");
    ERR(MPIX_Explain(request, NULL, 1, &length), MPI_ERR_ARG);
    ERR(MPIX_Explain(request, text, -1, &length), MPI_ERR_ARG);
    ERR(MPIX_Explain(request, text, sizeof text, NULL), MPI_ERR_ARG);
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(sum, size);
    OK(MPI_Request_free(&request));
    ERR(MPIX_Explain(MPI_REQUEST_NULL, text, sizeof text, &length), MPI_ERR_REQUEST);
    ERR(MPIX_Explain((MPI_Request)0xdead0, text, sizeof text, &length), MPI_ERR_REQUEST);
}

static void refused(void) {
    MPI_Group group = MPI_GROUP_NULL, other = MPI_GROUP_EMPTY, all;
    MPI_Comm grid, graph = MPI_COMM_NULL;
    int dims[] = {size}, open[] = {0}, yes[] = {1};
    MPI_Count wrong[] = {-1, -1, -1, -1};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, open, 0, &grid));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    ERR(MPIX_Cart_neighbor_group(yes, 1, MPI_COMM_WORLD, &group), MPI_ERR_TOPOLOGY);
    ERR(MPIX_Cart_neighbor_group(yes, 1, MPI_COMM_NULL, &group), MPI_ERR_COMM);
    OK(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    ERR(MPIX_Cart_neighbor_group(yes, -1, grid, &group), MPI_ERR_ARG);
    ERR(MPIX_Cart_neighbor_group(NULL, 1, grid, &group), MPI_ERR_ARG);
    ERR(MPIX_Cart_neighbor_group(yes, 1, grid, NULL), MPI_ERR_ARG);
    ERR(MPIX_Graph_neighbor_groups(grid, &group, &other), MPI_ERR_TOPOLOGY);
    CHECK(group == MPI_GROUP_NULL && other == MPI_GROUP_NULL);
    ERR(MPIX_Graph_create(MPI_COMM_WORLD, MPI_GROUP_NULL, NULL, NULL, 0, MPI_INFO_NULL, &graph),
        MPI_ERR_GROUP);
    ERR(MPIX_Graph_create(MPI_COMM_WORLD, all, wrong, NULL, 0, MPI_INFO_NULL, &graph), MPI_ERR_ARG);
    CHECK(graph == MPI_COMM_NULL);
    OK(MPI_Group_free(&all));
    OK(MPI_Comm_free(&grid));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    rings();
    if (size == 4) squares();
    MPI_Count messages[] = {3, 4}, bytes[] = {100, 200};
    graphs(NULL, NULL, 0);
    graphs(messages, bytes, 0);
    graphs(NULL, bytes, rank % 2);
    graphs((MPI_Count *)MPI_UNWEIGHTED, (MPI_Count *)MPI_UNWEIGHTED, 1);
    explained();
    refused();
    OK(MPI_Finalize());
    return 0;
}
