/* Communicators, groups, datatypes, operators, infos and the rest, used in a wrong way: the class of
 * the error each time.
 *
 * ranks: 1 2 3
 * spec: 61, 66
 */

#include "check.h"

#define COMM MPI_COMM_WORLD
static int rank, size, a, b, c[16], flag;
static char text[4096];
static MPI_Comm comm;
static MPI_Group group;
static MPI_Datatype type;
static MPI_Request request;

/* What is predefined cannot be freed. */
static void predefined(void) {
    int keyval = MPI_TAG_UB;
    ERR(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}), MPI_ERR_COMM);
    ERR(MPI_Comm_free(&(MPI_Comm){MPI_COMM_SELF}), MPI_ERR_COMM);
    ERR(MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_WORLD}), MPI_ERR_COMM);
    ERR(MPI_Type_free(&(MPI_Datatype){MPI_INT}), MPI_ERR_TYPE);
    ERR(MPI_Op_free(&(MPI_Op){MPI_SUM}), MPI_ERR_OP);
    ERR(MPI_Info_free(&(MPI_Info){MPI_INFO_ENV}), MPI_ERR_INFO);
    ERR(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_set_attr(COMM, MPI_TAG_UB, &a), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_delete_attr(COMM, MPI_TAG_UB), MPI_ERR_KEYVAL);
    OK(MPI_Comm_rank(COMM, &a)); /* It is still there. */
}

static void ranks_of_groups(void) {
    MPI_Group world;
    int twice[2] = {0, 0}, range[1][3] = {{0, size, 1}}, still[1][3] = {{0, 0, 0}};
    OK(MPI_Comm_group(COMM, &world));
    ERR(MPI_Group_incl(world, 1, &size, &group), MPI_ERR_RANK);
    ERR(MPI_Group_incl(world, 1, &(int){-1}, &group), MPI_ERR_RANK);
    ERR(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
    ERR(MPI_Group_excl(world, 1, &size, &group), MPI_ERR_RANK);
    ERR(MPI_Group_excl(world, 2, twice, &group), MPI_ERR_RANK);
    ERR(MPI_Group_incl(world, -1, c, &group), MPI_ERR_ARG);
    ERR(MPI_Group_range_incl(world, 1, range, &group), MPI_ERR_RANK);
    ERR(MPI_Group_range_incl(world, 1, still, &group), MPI_ERR_ARG);
    ERR(MPI_Group_translate_ranks(world, 1, &size, world, c), MPI_ERR_RANK);
    ERR(MPI_Group_size(world, NULL), MPI_ERR_ARG);
    OK(MPI_Group_free(&world));
}

static void communicators(void) {
    MPI_Group world, own;
    OK(MPI_Comm_group(COMM, &world));
    OK(MPI_Comm_group(MPI_COMM_SELF, &own));
    /* Somebody who is not in the communicator. */
    if (size > 1) ERR(MPI_Comm_create_group(MPI_COMM_SELF, world, 0, &comm), MPI_ERR_GROUP);
    ERR(MPI_Comm_split(MPI_COMM_SELF, -7, 0, &comm), MPI_ERR_ARG);
    ERR(MPI_Comm_dup(COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Comm_rank(COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Comm_size(COMM, NULL), MPI_ERR_ARG);
    ERR(MPI_Comm_get_name(COMM, NULL, &a), MPI_ERR_ARG);
    ERR(MPI_Comm_free(NULL), MPI_ERR_ARG);
    ERR(MPI_Comm_remote_size(COMM, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_remote_group(COMM, &group), MPI_ERR_COMM);
    ERR(MPI_Intercomm_merge(COMM, 0, &comm), MPI_ERR_COMM);
    ERR(MPI_Intercomm_create(MPI_COMM_SELF, 1, COMM, 0, 0, &comm), MPI_ERR_RANK);
    ERR(MPI_Intercomm_create(MPI_COMM_SELF, 0, COMM, size, 0, &comm), MPI_ERR_RANK);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&own));
}

static void topologies(void) {
    int dims[2] = {size, 2}, periods[2] = {0, 0}, nodes[2] = {0, 0};
    ERR(MPI_Cart_create(MPI_COMM_SELF, 2, (int[]){1, 2}, periods, 0, &comm), MPI_ERR_DIMS);
    ERR(MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){-1}, periods, 0, &comm), MPI_ERR_DIMS);
    ERR(MPI_Cart_create(MPI_COMM_SELF, -1, dims, periods, 0, &comm), MPI_ERR_DIMS);
    ERR(MPI_Dims_create(7, 2, (int[]){2, 0}), MPI_ERR_DIMS);
    ERR(MPI_Dims_create(4, 2, (int[]){-2, 0}), MPI_ERR_DIMS);
    ERR(MPI_Cart_get(COMM, 2, dims, periods, nodes), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_rank(COMM, nodes, &a), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_coords(COMM, 0, 2, nodes), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_shift(COMM, 0, 1, &a, &b), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cart_sub(COMM, periods, &comm), MPI_ERR_TOPOLOGY);
    ERR(MPI_Cartdim_get(COMM, &a), MPI_ERR_TOPOLOGY);
    ERR(MPI_Graphdims_get(COMM, &a, &b), MPI_ERR_TOPOLOGY);
    ERR(MPI_Graph_neighbors_count(COMM, 0, &a), MPI_ERR_TOPOLOGY);
    ERR(MPI_Dist_graph_neighbors_count(COMM, &a, &b, &flag), MPI_ERR_TOPOLOGY);
    ERR(MPI_Neighbor_allgather(&a, 1, MPI_INT, c, 1, MPI_INT, COMM), MPI_ERR_TOPOLOGY);
    ERR(MPI_Ineighbor_alltoall(&a, 1, MPI_INT, c, 1, MPI_INT, COMM, &request), MPI_ERR_TOPOLOGY);
    ERR(MPI_Neighbor_alltoall_init(&a, 1, MPI_INT, c, 1, MPI_INT, COMM, MPI_INFO_NULL, &request),
        MPI_ERR_TOPOLOGY);

    OK(MPI_Cart_create(COMM, 1, &size, periods, 0, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    ERR(MPI_Cart_rank(comm, &size, &a), MPI_ERR_ARG);
    ERR(MPI_Cart_coords(comm, size, 1, c), MPI_ERR_RANK);
    ERR(MPI_Cart_shift(comm, 1, 1, &a, &b), MPI_ERR_DIMS);
    ERR(MPI_Dist_graph_neighbors_count(comm, &a, &b, &flag), MPI_ERR_TOPOLOGY);
    /* Nowhere may the data of neighbours be in place. */
    ERR(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ERR(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ERR(MPI_Neighbor_alltoall(c, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    OK(MPI_Comm_free(&comm));
    ERR(MPI_Dist_graph_create_adjacent(COMM, 1, &size, MPI_UNWEIGHTED, 0, c, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &comm), MPI_ERR_RANK);
}

static void datatypes(void) {
    MPI_Datatype open;
    ERR(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    ERR(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    ERR(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    ERR(MPI_Type_indexed(-1, c, c, MPI_INT, &type), MPI_ERR_COUNT);
    ERR(MPI_Type_indexed(1, &(int){-1}, c, MPI_INT, &type), MPI_ERR_COUNT);
    ERR(MPI_Type_create_subarray(1, (int[]){4}, (int[]){5}, (int[]){0}, MPI_ORDER_C, MPI_INT,
                                 &type), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(1, (int[]){4}, (int[]){1}, (int[]){4}, MPI_ORDER_C, MPI_INT,
                                 &type), MPI_ERR_ARG);
    ERR(MPI_Type_create_subarray(1, (int[]){4}, (int[]){1}, (int[]){0}, 12345, MPI_INT, &type),
        MPI_ERR_ARG);
    ERR(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    ERR(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    ERR(MPI_Type_get_contents(MPI_INT, 0, 0, 0, c, NULL, NULL), MPI_ERR_TYPE);
    OK(MPI_Type_contiguous(2, MPI_INT, &open));
    ERR(MPI_Bcast(c, 1, open, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Pack(c, 1, open, text, 64, &a, MPI_COMM_SELF), MPI_ERR_TYPE);
    OK(MPI_Type_free(&open));
    ERR(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
    ERR(MPI_Type_match_size(4711, 4, &type), MPI_ERR_ARG);
}

static void packing(void) {
    a = 0;
    ERR(MPI_Pack(c, 4, MPI_INT, text, 15, &a, COMM), MPI_ERR_TRUNCATE);
    CHECK_EQ(a, 0);
    ERR(MPI_Pack(c, -1, MPI_INT, text, 64, &a, COMM), MPI_ERR_COUNT);
    ERR(MPI_Pack_size(-1, MPI_INT, COMM, &a), MPI_ERR_COUNT);
    a = 0;
    ERR(MPI_Unpack(text, 15, &a, c, 4, MPI_INT, COMM), MPI_ERR_TRUNCATE);
    ERR(MPI_Pack_external("no representation", c, 1, MPI_INT, text, 64, &(MPI_Aint){0}),
        MPI_ERR_ARG);
}

static void add(void *in, void *inout, int *len, MPI_Datatype *of) {
    (void)in, (void)inout, (void)len, (void)of;
}

/* Operators that are not defined for a datatype. */
static void operators(void) {
    static const struct { MPI_Op op; MPI_Datatype type; } WRONG[] = {
        {MPI_BAND, MPI_DOUBLE}, {MPI_LAND, MPI_FLOAT}, {MPI_MAX, MPI_C_DOUBLE_COMPLEX},
        {MPI_SUM, MPI_CHARACTER}, {MPI_SUM, MPI_BYTE}, {MPI_MINLOC, MPI_INT}, {MPI_SUM, MPI_2INT},
        {MPI_MIN, MPI_C_FLOAT_COMPLEX}, {MPI_BXOR, MPI_LONG_DOUBLE},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        static double in[8], out[8];
        ERR(MPI_Allreduce(in, out, 1, WRONG[i].type, WRONG[i].op, MPI_COMM_SELF), MPI_ERR_OP);
        ERR(MPI_Reduce_local(in, out, 1, WRONG[i].type, WRONG[i].op), MPI_ERR_OP);
    }
    ERR(MPI_Op_create(add, 1, NULL), MPI_ERR_ARG);
    ERR(MPI_Reduce_local(c, c + 4, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
}

static void infos(void) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    memset(text, 'k', sizeof text - 1);
    ERR(MPI_Info_set(info, text, "value"), MPI_ERR_INFO_KEY);
    ERR(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
    ERR(MPI_Info_set(info, "key", text), MPI_ERR_INFO_VALUE);
    ERR(MPI_Info_delete(info, "key"), MPI_ERR_INFO_NOKEY);
    ERR(MPI_Info_get_nthkey(info, 0, text), MPI_ERR_ARG);
    ERR(MPI_Info_set(info, NULL, "value"), MPI_ERR_INFO_KEY);
    ERR(MPI_Info_set(info, "key", NULL), MPI_ERR_INFO_VALUE);
    OK(MPI_Info_get_nkeys(info, &a));
    CHECK_EQ(a, 0);
    OK(MPI_Info_free(&info));
    ERR(MPI_Info_create(NULL), MPI_ERR_ARG);
}

static void codes(void) {
    ERR(MPI_Error_class(-12345, &a), MPI_ERR_ARG);
    ERR(MPI_Error_string(1 << 30, text, &a), MPI_ERR_ARG);
    ERR(MPI_Add_error_code(1 << 30, &a), MPI_ERR_ARG);
    ERR(MPI_Add_error_string(MPI_ERR_ARG, "text"), MPI_ERR_ARG);
    OK(MPI_Comm_call_errhandler(COMM, MPI_ERR_OTHER)); /* It returns, and all went well. */
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(COMM, &rank));
    OK(MPI_Comm_size(COMM, &size));
    OK(MPI_Comm_set_errhandler(COMM, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    predefined();
    ranks_of_groups();
    communicators();
    topologies();
    datatypes();
    packing();
    operators();
    infos();
    codes();
    int one = 1, all = 0;
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, COMM));
    CHECK_EQ(all, size);
    OK(MPI_Finalize());
    return 0;
}
