/* Topologies: grids, graphs, and what copies keep of them.
 *
 * ranks: 1 2 3 4 5
 * spec: 92, 94, 98
 */

#include "check.h"

static int rank, size;

static int kind(MPI_Comm comm) {
    int status = -1;
    OK(MPI_Topo_test(comm, &status));
    return status;
}

/* The blocks of the neighbourhood collectives are those of the neighbours, in their order. */
static void exchanges(MPI_Comm comm, int ins, const int *from) {
    int own = -1, got[16];
    OK(MPI_Comm_rank(comm, &own));
    for (int each = 0; each < 16; each++) got[each] = -7;
    OK(MPI_Neighbor_allgather(&own, 1, MPI_INT, got, 1, MPI_INT, comm));
    for (int each = 0; each < 16; each++) {
        int there = each < ins && from[each] != MPI_PROC_NULL;
        CHECK_EQ(got[each], there ? from[each] : -7);
    }
}

static void grid(void) {
    int sizes[2] = {0, 0}, periods[2] = {0, 1}, place[2], seen[2], rings[2], dims = -1, ranks = -1;
    MPI_Comm cart, copy;
    OK(MPI_Dims_create(size, 2, sizes));
    CHECK_EQ(sizes[0] * sizes[1], size);
    CHECK(sizes[0] >= sizes[1]);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &cart));
    CHECK_EQ(kind(cart), MPI_CART);
    OK(MPI_Cartdim_get(cart, &dims));
    CHECK_EQ(dims, 2);
    int own = -1, there = -1, mapped = -1;
    OK(MPI_Comm_rank(cart, &own));
    OK(MPI_Comm_size(cart, &ranks));
    CHECK_EQ(ranks, size);
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, sizes, periods, &mapped));
    CHECK_EQ(mapped, own);
    OK(MPI_Cart_get(cart, 2, seen, rings, place));
    CHECK(seen[0] == sizes[0] && seen[1] == sizes[1] && rings[0] == 0 && rings[1] == 1);
    CHECK_EQ(place[0] * sizes[1] + place[1], own);
    OK(MPI_Cart_coords(cart, own, 2, seen));
    CHECK(seen[0] == place[0] && seen[1] == place[1]);
    OK(MPI_Cart_rank(cart, place, &there));
    CHECK_EQ(there, own);
    /* Around the ring, in both directions. */
    int around[2] = {place[0], place[1] - 3 * sizes[1]};
    OK(MPI_Cart_rank(cart, around, &there));
    CHECK_EQ(there, own);
    int near[4];
    for (int each = 0; each < 2; each++) {
        OK(MPI_Cart_shift(cart, each, 1, &near[2 * each], &near[2 * each + 1]));
    }
    CHECK_EQ(near[0], place[0] == 0 ? MPI_PROC_NULL : own - sizes[1]);
    CHECK_EQ(near[1], place[0] == sizes[0] - 1 ? MPI_PROC_NULL : own + sizes[1]);
    CHECK_EQ(near[2], place[0] * sizes[1] + (place[1] + sizes[1] - 1) % sizes[1]);
    CHECK_EQ(near[3], place[0] * sizes[1] + (place[1] + 1) % sizes[1]);
    exchanges(cart, 4, near);
    OK(MPI_Comm_dup(cart, &copy));
    CHECK_EQ(kind(copy), MPI_CART);
    OK(MPI_Comm_free(&cart));
    exchanges(copy, 4, near);
    /* Its rows. */
    MPI_Comm row, point;
    int remain[2] = {0, 1}, none[2] = {0, 0};
    OK(MPI_Cart_sub(copy, remain, &row));
    OK(MPI_Comm_size(row, &ranks));
    CHECK_EQ(ranks, sizes[1]);
    OK(MPI_Cart_get(row, 1, seen, rings, place));
    CHECK(seen[0] == sizes[1] && rings[0] == 1);
    OK(MPI_Cart_sub(copy, none, &point));
    OK(MPI_Cartdim_get(point, &dims));
    CHECK_EQ(dims, 0);
    OK(MPI_Comm_size(point, &ranks));
    CHECK_EQ(ranks, 1);
    OK(MPI_Cart_rank(point, NULL, &there));
    CHECK_EQ(there, 0);
    OK(MPI_Comm_free(&point));
    OK(MPI_Comm_free(&row));
    OK(MPI_Comm_free(&copy));
}

static void smaller_grid(void) {
    MPI_Comm cart;
    int one[1] = {1}, ring[1] = {1}, mapped = -1;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, one, ring, 0, &cart));
    CHECK_EQ(cart != MPI_COMM_NULL, rank == 0);
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, one, ring, &mapped));
    CHECK_EQ(mapped, rank == 0 ? 0 : MPI_UNDEFINED);
    int none[1] = {0};
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, none, ring, &mapped));
    CHECK_EQ(mapped, MPI_UNDEFINED);
    if (cart != MPI_COMM_NULL) {
        int near[2];
        OK(MPI_Cart_shift(cart, 0, 1, &near[0], &near[1]));
        CHECK(near[0] == 0 && near[1] == 0);
        OK(MPI_Comm_free(&cart));
    }
    OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart));
    CHECK_EQ(cart != MPI_COMM_NULL, rank == 0);
    if (cart != MPI_COMM_NULL) OK(MPI_Comm_free(&cart));
}

/* Each rank with the next ones before and behind it, in a ring. */
static void graph(void) {
    int index[8], edges[16], near[2], got[16], ends[8], nodes = -1, count = -1, mapped = -1;
    for (int each = 0; each < size; each++) {
        index[each] = 2 * (each + 1);
        edges[2 * each] = (each + size - 1) % size;
        edges[2 * each + 1] = (each + 1) % size;
    }
    MPI_Comm comm, copy;
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &comm));
    CHECK_EQ(kind(comm), MPI_GRAPH);
    OK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &mapped));
    CHECK_EQ(mapped, rank);
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&comm));
    CHECK_EQ(kind(copy), MPI_GRAPH);
    OK(MPI_Graphdims_get(copy, &nodes, &count));
    CHECK(nodes == size && count == 2 * size);
    OK(MPI_Graph_get(copy, nodes, count, ends, got));
    CHECK(memcmp(ends, index, sizeof(int) * nodes) == 0);
    CHECK(memcmp(got, edges, sizeof(int) * count) == 0);
    for (int each = 0; each < size; each++) {
        OK(MPI_Graph_neighbors_count(copy, each, &count));
        CHECK_EQ(count, 2);
        OK(MPI_Graph_neighbors(copy, each, 2, near));
        CHECK(near[0] == edges[2 * each] && near[1] == edges[2 * each + 1]);
    }
    exchanges(copy, 2, edges + 2 * rank);
    OK(MPI_Comm_free(&copy));
    int single[1] = {0};
    OK(MPI_Graph_create(MPI_COMM_WORLD, 1, single, NULL, 0, &comm));
    CHECK_EQ(comm != MPI_COMM_NULL, rank == 0);
    OK(MPI_Graph_map(MPI_COMM_WORLD, 1, single, NULL, &mapped));
    CHECK_EQ(mapped, rank == 0 ? 0 : MPI_UNDEFINED);
    if (comm != MPI_COMM_NULL) OK(MPI_Comm_free(&comm));
    OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void adjacent(void) {
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    /* The right one is named twice: the first and the second message keep their order. */
    int from[3] = {left, rank, left}, to[3] = {right, rank, right};
    int in[3] = {1, 2, 3}, out[3] = {4, 0, 6};
    int ins = -1, outs = -1, weighted = -1, sources[3], into[3], weights[3], loads[3];
    MPI_Comm comm, copy;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, MPI_UNWEIGHTED, 3, to,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    CHECK_EQ(kind(comm), MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted));
    CHECK(ins == 3 && outs == 3 && weighted == 0);
    OK(MPI_Dist_graph_neighbors(comm, 3, sources, MPI_UNWEIGHTED, 3, into, MPI_UNWEIGHTED));
    CHECK(memcmp(sources, from, sizeof from) == 0 && memcmp(into, to, sizeof to) == 0);
    exchanges(comm, 3, from);
    int sent[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2}, got[3] = {-1, -1, -1};
    OK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm));
    if (size > 1) {
        CHECK(got[0] == 10 * left && got[1] == 10 * rank + 1 && got[2] == 10 * left + 2);
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, in, 3, to, out, MPI_INFO_NULL, 1,
                                      &comm));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Dist_graph_neighbors_count(copy, &ins, &outs, &weighted));
    CHECK(ins == 3 && outs == 3 && weighted);
    OK(MPI_Dist_graph_neighbors(copy, 3, sources, weights, 3, into, loads));
    CHECK(memcmp(weights, in, sizeof in) == 0 && memcmp(loads, out, sizeof out) == 0);
    sources[2] = weights[2] = -5;
    OK(MPI_Dist_graph_neighbors(copy, 2, sources, weights, 0, NULL, NULL));
    CHECK(sources[1] == rank && sources[2] == -5 && weights[1] == 2 && weights[2] == -5);
    OK(MPI_Comm_free(&copy));
    /* A graph without edges knows whether they would have had weights. */
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                      MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Dist_graph_neighbors_count(copy, &ins, &outs, &weighted));
    CHECK(ins == 0 && outs == 0 && weighted);
    OK(MPI_Dist_graph_neighbors(copy, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY));
    OK(MPI_Comm_free(&copy));
}

/* The last rank names all edges: from each rank to all behind it. */
static void anywhere(void) {
    int sources[8], degrees[8], destinations[64], weights[64], edges = 0, named = 0;
    if (rank == size - 1) {
        for (; named < size; named++) {
            sources[named] = named;
            degrees[named] = size - 1 - named;
            for (int to = named + 1; to < size; to++, edges++) {
                destinations[edges] = to;
                weights[edges] = 10 * named + to;
            }
        }
    }
    MPI_Comm comm;
    int ins = -1, outs = -1, weighted = -1, from[8], in[8], to[8], out[8];
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, named, sources, degrees, destinations,
                             edges ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted));
    CHECK(ins == rank && outs == size - 1 - rank && weighted);
    OK(MPI_Dist_graph_neighbors(comm, ins, from, in, outs, to, out));
    for (int each = 0; each < ins; each++) {
        CHECK_EQ(in[each], 10 * from[each] + rank);
    }
    for (int each = 0; each < outs; each++) {
        CHECK_EQ(out[each], 10 * rank + to[each]);
    }
    exchanges(comm, ins, from);
    OK(MPI_Comm_free(&comm));
}

static void balanced(void) {
    int dims[3] = {0, 2, 0};
    OK(MPI_Dims_create(12, 3, dims));
    CHECK(dims[0] == 3 && dims[1] == 2 && dims[2] == 2);
    int given[2] = {6, 7};
    OK(MPI_Dims_create(42, 2, given));
    CHECK(given[0] == 6 && given[1] == 7);
    int prime[2] = {0, 0};
    OK(MPI_Dims_create(7, 2, prime));
    CHECK(prime[0] == 7 && prime[1] == 1);
}

static void refused(void) {
    MPI_Comm comm;
    int value = -1, many[1] = {size + 1}, below[1] = {-1}, whole[1] = {size}, open[1] = {0};
    int five[2] = {5, 0}, negative[2] = {-1, 0}, falling[2] = {1, 0}, end[1] = {1}, far[1];
    far[0] = size;
    ERR(MPI_Topo_test(MPI_COMM_NULL, &value), MPI_ERR_COMM);
    CHECK_EQ(kind(MPI_COMM_WORLD), MPI_UNDEFINED);
    ERR(MPI_Cartdim_get(MPI_COMM_WORLD, &value), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_rank(MPI_COMM_WORLD, whole, &value), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_sub(MPI_COMM_WORLD, whole, &comm), MPI_ERR_TOPOLOGY);
    ERR(MPI_Graphdims_get(MPI_COMM_WORLD, &value, &value), MPI_ERR_TOPOLOGY);
    ERR(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &value), MPI_ERR_TOPOLOGY);
    ERR(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &value, &value, &value), MPI_ERR_TOPOLOGY);
    ERR(MPI_Neighbor_allgather(&value, 1, MPI_INT, &value, 1, MPI_INT, MPI_COMM_WORLD),
        MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_create(MPI_COMM_NULL, 1, whole, open, 0, &comm), MPI_ERR_COMM);
    ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, many, open, 0, &comm), MPI_ERR_DIMS);
    ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, below, open, 0, &comm), MPI_ERR_DIMS);
    ERR(MPI_Cart_create(MPI_COMM_WORLD, -1, whole, open, 0, &comm), MPI_ERR_DIMS);
    ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, open, 0, &comm), MPI_ERR_ARG);
    ERR(MPI_Dims_create(12, 2, five), MPI_ERR_DIMS);
    ERR(MPI_Dims_create(12, 2, negative), MPI_ERR_DIMS);
    ERR(MPI_Graph_create(MPI_COMM_WORLD, -1, end, whole, 0, &comm), MPI_ERR_ARG);
    if (size > 1) ERR(MPI_Graph_create(MPI_COMM_WORLD, 2, falling, far, 0, &comm), MPI_ERR_ARG);
    ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, end, far, 0, &comm), MPI_ERR_RANK);
    ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, far, MPI_UNWEIGHTED, 0, NULL,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm), MPI_ERR_RANK);
    ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, open, below, 0, NULL,
                                       MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
    ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, open, below, open, MPI_UNWEIGHTED, MPI_INFO_NULL,
                              0, &comm), MPI_ERR_ARG);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, whole, open, 0, &comm));
    ERR(MPI_Cart_rank(comm, whole, &value), MPI_ERR_ARG);
    ERR(MPI_Cart_coords(comm, size, 1, &value), MPI_ERR_RANK);
    ERR(MPI_Cart_coords(comm, -1, 1, &value), MPI_ERR_RANK);
    ERR(MPI_Cart_coords(comm, 0, 0, &value), MPI_ERR_ARG);
    ERR(MPI_Cart_shift(comm, 1, 1, &value, &value), MPI_ERR_DIMS);
    ERR(MPI_Cart_shift(comm, -1, 1, &value, &value), MPI_ERR_DIMS);
    ERR(MPI_Graph_neighbors_count(comm, 0, &value), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    grid();
    smaller_grid();
    graph();
    adjacent();
    anywhere();
    balanced();
    refused();
    OK(MPI_Finalize());
    return 0;
}
