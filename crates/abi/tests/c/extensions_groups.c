/* Persistent collectives among the members of a group, in whose order data and reductions come; those
 * who are no members call and start them too, with garbage and an empty group or the group.
 *
 * ranks: 1 2 3 4
 * spec: 80, 103, 104, 105, 107, 108, 109, 110, 111, 121, 122
 *
 * case: plain
 * case: checked
 * ranks: 3
 * set: MOTET_CHECK=1
 */

#include <mpix.h>

#include "forms.h"

enum { BLOCK = 2, ROOM = 64, POISON = -77 };

static MPI_Comm comm;
static int rank, size;
static MPI_Group all, group;
/* The ranks of the members in the order of the group, how many, and which of them is the caller. */
static int members[16], count, place;
static int root;
static int out[ROOM], in[ROOM];

static int item(int of_rank, int to_rank, int index) {
    return 10000 * turn + 1000 * of_rank + 100 * to_rank + index;
}

static int is_member(void) { return place >= 0; }

static void poison(void) {
    for (int i = 0; i < ROOM; ++i) out[i] = in[i] = POISON;
}

static void check_rest(int first) {
    for (int i = first; i < ROOM; ++i) CHECK_EQ(in[i], POISON);
}

static void fill_barrier(void) {}
static void look_barrier(void) {}

static void fill_bcast(void) {
    poison();
    for (int i = 0; i < BLOCK && rank == root; ++i) in[i] = item(root, 0, i);
}
static void look_bcast(void) {
    for (int i = 0; i < BLOCK && is_member(); ++i) CHECK_EQ(in[i], item(root, 0, i));
    check_rest(is_member() ? BLOCK : 0);
}

static void fill_gather(void) {
    poison();
    for (int i = 0; i < BLOCK; ++i) out[i] = item(rank, 0, i);
}
static void look_all(int is_here) {
    for (int k = 0; k < count && is_here; ++k)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * k + i], item(members[k], 0, i));
    check_rest(is_here ? BLOCK * count : 0);
}
static void look_gather(void) { look_all(rank == root); }
static void fill_gatherv(void) { fill_gather(); }
/* The blocks come in the opposite order. */
static void look_gatherv(void) {
    int is_here = rank == root;
    for (int k = 0; k < count && is_here; ++k)
        for (int i = 0; i < BLOCK; ++i)
            CHECK_EQ(in[BLOCK * (count - 1 - k) + i], item(members[k], 0, i));
    check_rest(is_here ? BLOCK * count : 0);
}
static void fill_allgather(void) { fill_gather(); }
static void look_allgather(void) { look_all(is_member()); }

static void fill_scatter(void) {
    poison();
    for (int k = 0; k < count && rank == root; ++k)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * k + i] = item(root, members[k], i);
}
static void look_scatter(void) {
    for (int i = 0; i < BLOCK && is_member(); ++i) CHECK_EQ(in[i], item(root, rank, i));
    check_rest(is_member() ? BLOCK : 0);
}

static void fill_alltoall(void) {
    poison();
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < BLOCK; ++i) out[BLOCK * k + i] = item(rank, members[k], i);
}
static void look_alltoall(void) {
    for (int k = 0; k < count && is_member(); ++k)
        for (int i = 0; i < BLOCK; ++i) CHECK_EQ(in[BLOCK * k + i], item(members[k], rank, i));
    check_rest(is_member() ? BLOCK * count : 0);
}

/* x -> a x + b, modulo a prime: the order of the operands matters. */
typedef struct {
    int a, b;
} Map;
enum { PRIME = 9973 };
static MPI_Datatype map_type;
static MPI_Op op;
static Map maps[16], results[16];

static Map then(Map first, Map second) {
    Map both = {second.a * first.a % PRIME, (second.a * first.b + second.b) % PRIME};
    return both;
}
static void compose(void *first, void *second, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; ++i) ((Map *)second)[i] = then(((Map *)first)[i], ((Map *)second)[i]);
}
static Map map(int of_rank, int index) {
    Map it = {2 + of_rank + index + turn % 7, 3 * of_rank + 5 * index};
    return it;
}

static void fill_maps(void) {
    for (int i = 0; i < 16; ++i) {
        maps[i] = map(rank, i);
        results[i].a = results[i].b = POISON;
    }
}
/* The result in the first place is item `index` reduced over the members before `end`. */
static void look_map(int end, int index) {
    if (end <= 0) {
        CHECK_EQ(results[0].a, POISON);
        return;
    }
    Map expected = map(members[0], index);
    for (int k = 1; k < end; ++k) expected = then(expected, map(members[k], index));
    CHECK_EQ(results[0].a, expected.a);
    CHECK_EQ(results[0].b, expected.b);
    CHECK_EQ(results[1].a, POISON);
}
static void fill_reduce(void) { fill_maps(); }
static void look_reduce(void) { look_map(rank == root ? count : 0, 0); }
static void fill_allreduce(void) { fill_maps(); }
static void look_allreduce(void) { look_map(is_member() ? count : 0, 0); }
static void fill_scan(void) { fill_maps(); }
static void look_scan(void) { look_map(place + 1, 0); }
static void fill_exscan(void) { fill_maps(); }
static void look_exscan(void) { look_map(place, 0); }
static void fill_reduce_scatter(void) { fill_maps(); }
static void look_reduce_scatter(void) { look_map(is_member() ? count : 0, place); }

#define GARBAGE ((void *)0xdead0)
#define AMONG(test, name, ...) \
    STARTED(test, MPIX_##name(__VA_ARGS__, group, MPI_INFO_NULL, comm, &request))

/* Of those outside nothing is looked at. */
#define HERE(pointer) (is_member() ? (void *)(pointer) : GARBAGE)

static void all_collectives(void) {
    MPI_Datatype type = is_member() ? MPI_INT : (MPI_Datatype)0xdead0;
    MPI_Datatype maps_of = is_member() ? map_type : (MPI_Datatype)0xdead0;
    MPI_Op with = is_member() ? op : (MPI_Op)0xdead0;
    int block = is_member() ? BLOCK : -5, one = is_member() ? 1 : -5, ones[16], lens[16], places[16];
    int bytes[16], back[16];
    MPI_Datatype types[16];
    for (int k = 0; k < count; ++k) {
        ones[k] = 1;
        lens[k] = BLOCK;
        places[k] = BLOCK * k;
        back[k] = BLOCK * (count - 1 - k);
        bytes[k] = places[k] * (int)sizeof(int);
        types[k] = MPI_INT;
    }
    STARTED(barrier, MPIX_Barrier_init(group, MPI_INFO_NULL, comm, &request));
    for (int k = 0; k < count; ++k) {
        root = members[k];
        AMONG(bcast, Bcast_init, HERE(in), block, type, root);
        AMONG(bcast, Bcast_init_c, HERE(in), block, type, root);
        AMONG(gather, Gather_init, HERE(out), block, type, HERE(in), block, type, root);
        AMONG(gatherv, Gatherv_init, HERE(out), block, type, HERE(in), HERE(lens), HERE(back), type,
              root);
        AMONG(scatter, Scatter_init, HERE(out), block, type, HERE(in), block, type, root);
        AMONG(scatter, Scatterv_init, HERE(out), HERE(lens), HERE(places), type, HERE(in), block,
              type, root);
        AMONG(reduce, Reduce_init, HERE(maps), HERE(results), one, maps_of, with, root);
    }
    AMONG(allgather, Allgather_init, HERE(out), block, type, HERE(in), block, type);
    AMONG(allgather, Allgatherv_init, HERE(out), block, type, HERE(in), HERE(lens), HERE(places),
          type);
    AMONG(alltoall, Alltoall_init, HERE(out), block, type, HERE(in), block, type);
    AMONG(alltoall, Alltoallv_init, HERE(out), HERE(lens), HERE(places), type, HERE(in), HERE(lens),
          HERE(places), type);
    AMONG(alltoall, Alltoallw_init, HERE(out), HERE(lens), HERE(bytes), HERE(types), HERE(in),
          HERE(lens), HERE(bytes), HERE(types));
    AMONG(allreduce, Allreduce_init, HERE(maps), HERE(results), one, maps_of, with);
    AMONG(scan, Scan_init, HERE(maps), HERE(results), one, maps_of, with);
    AMONG(exscan, Exscan_init, HERE(maps), HERE(results), one, maps_of, with);
    AMONG(reduce_scatter, Reduce_scatter_init, HERE(maps), HERE(results), HERE(ones), maps_of, with);
    AMONG(reduce_scatter, Reduce_scatter_block_init, HERE(maps), HERE(results), one, maps_of, with);
}

/* Those outside pass the group itself, or an empty one. */
static void among(int members_of_it, const int *ranks, int is_empty_outside) {
    count = members_of_it;
    place = -1;
    for (int k = 0; k < count; ++k) {
        members[k] = ranks[k];
        if (members[k] == rank) place = k;
    }
    if (is_empty_outside && place < 0) {
        group = MPI_GROUP_EMPTY;
        all_collectives();
        return;
    }
    OK(MPI_Group_incl(all, count, members, &group));
    all_collectives();
    OK(MPI_Group_free(&group));
}

static void refused(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Group own, other;
    int another[] = {(rank + 1) % size};
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Group_incl(all, 1, another, &other));
    OK(MPI_Group_incl(all, 1, &rank, &own));
    ERR(MPIX_Bcast_init(in, 1, MPI_INT, rank, MPI_GROUP_NULL, MPI_INFO_NULL, comm, &request),
        MPI_ERR_GROUP);
    ERR(MPIX_Bcast_init(in, 1, MPI_INT, size, all, MPI_INFO_NULL, comm, &request), MPI_ERR_ROOT);
    ERR(MPIX_Bcast_init(in, 1, MPI_INT, -1, all, MPI_INFO_NULL, comm, &request), MPI_ERR_ROOT);
    if (size > 1) {
        ERR(MPIX_Bcast_init(in, 1, MPI_INT, another[0], own, MPI_INFO_NULL, comm, &request),
            MPI_ERR_ROOT);
        ERR(MPIX_Barrier_init(other, MPI_INFO_NULL, MPI_COMM_SELF, &request), MPI_ERR_GROUP);
    }
    ERR(MPIX_Allreduce_init(in, in, 1, MPI_INT, MPI_SUM, all, MPI_INFO_NULL, comm, &request),
        MPI_ERR_BUFFER);
    ERR(MPIX_Allgather_init(out, 1, MPI_INT, in, -1, MPI_INT, all, MPI_INFO_NULL, comm, &request),
        MPI_ERR_COUNT);
    ERR(MPIX_Barrier_init(all, MPI_INFO_NULL, comm, NULL), MPI_ERR_ARG);
    ERR(MPIX_Barrier_init(all, (MPI_Info)0xdead0, comm, &request), MPI_ERR_INFO);
    ERR(MPIX_Bcast_init(NULL, 1, MPI_INT, 0, all, MPI_INFO_NULL, comm, &request), MPI_ERR_BUFFER);
    ERR(MPIX_Bcast_init(MPI_IN_PLACE, 1, MPI_INT, 0, all, MPI_INFO_NULL, comm, &request),
        MPI_ERR_BUFFER);
    ERR(MPIX_Scan_init(out, in, 1, MPI_DATATYPE_NULL, MPI_SUM, all, MPI_INFO_NULL, comm, &request),
        MPI_ERR_TYPE);
    ERR(MPIX_Scan_init(out, in, 1, MPI_INT, MPI_OP_NULL, all, MPI_INFO_NULL, comm, &request),
        MPI_ERR_OP);
    ERR(MPIX_Allgatherv_init(out, 1, MPI_INT, in, NULL, NULL, MPI_INT, all, MPI_INFO_NULL, comm,
                             &request),
        MPI_ERR_ARG);
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&other));
}

/* Two operations with other groups, started in different orders on different ranks. */
static void several_at_once(void) {
    MPI_Group front, back;
    int ranks[16], sum[2] = {0, 0}, one = 1, cut = size / 2;
    MPI_Request requests[2];
    for (int k = 0; k < size; ++k) ranks[k] = k;
    /* They share the rank in the middle. */
    OK(MPI_Group_incl(all, cut + 1, ranks, &front));
    OK(MPI_Group_incl(all, size - cut, ranks + cut, &back));
    OK(MPIX_Allreduce_init(&one, &sum[0], 1, MPI_INT, MPI_SUM, front, MPI_INFO_NULL, comm,
                           &requests[0]));
    OK(MPIX_Allreduce_init(&one, &sum[1], 1, MPI_INT, MPI_SUM, back, MPI_INFO_NULL, comm,
                           &requests[1]));
    for (int round = 0; round < 3; ++round) {
        sum[0] = sum[1] = POISON;
        if (rank % 2 == 0) {
            OK(MPI_Startall(2, requests));
        } else {
            OK(MPI_Start(&requests[1]));
            OK(MPI_Start(&requests[0]));
        }
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(sum[0], rank <= cut ? cut + 1 : POISON);
        CHECK_EQ(sum[1], rank >= cut ? size - cut : POISON);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Group_free(&front));
    OK(MPI_Group_free(&back));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Type_contiguous(2, MPI_INT, &map_type));
    OK(MPI_Type_commit(&map_type));
    OK(MPI_Op_create(compose, 0, &op));
    int forwards[] = {0, 1, 2, 3}, backwards[] = {3, 2, 1, 0}, mixed[] = {2, 0, 3, 1};
    among(size, forwards, 0);
    for (int empty = 0; empty < 2; ++empty) {
        for (int k = 1; k <= size; ++k) among(k, backwards + 4 - size, empty);
        if (size == 4) among(3, mixed, empty);
        if (size > 2) among(2, mixed, empty);
    }
    refused();
    several_at_once();
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&map_type));
    OK(MPI_Group_free(&all));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
