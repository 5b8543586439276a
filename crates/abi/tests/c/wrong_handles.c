/* What is no handle of a kind, given where one should be: the class of the kind each time, and
 * never a crash. Constants and objects of other kinds, null handles, stale handles, and garbage.
 *
 * ranks: 1
 * spec: 61
 */

#include "wrong.h"

static int a, b, c[16], flag;
static char text[MPI_MAX_OBJECT_NAME + MPI_MAX_LIBRARY_VERSION_STRING];
static void *address;
static MPI_Comm comm_out;
static MPI_Group group_out;
static MPI_Request request_out;
static MPI_Datatype type_out;
static MPI_Info info_out;
static MPI_Errhandler handler_out;
static MPI_Status status;

static void as_comm(MPI_Comm comm) {
    MPI_Comm copy = comm;
    ERR(MPI_Comm_rank(comm, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_size(comm, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_remote_size(comm, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_test_inter(comm, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_group(comm, &group_out), MPI_ERR_COMM);
    ERR(MPI_Comm_remote_group(comm, &group_out), MPI_ERR_COMM);
    ERR(MPI_Comm_compare(comm, MPI_COMM_WORLD, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_compare(MPI_COMM_WORLD, comm, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_dup(comm, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Comm_idup(comm, &comm_out, &request_out), MPI_ERR_COMM);
    ERR(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Comm_split(comm, 0, 0, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Comm_create(comm, MPI_GROUP_EMPTY, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Comm_create_group(comm, MPI_GROUP_EMPTY, 0, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Comm_set_name(comm, "name"), MPI_ERR_COMM);
    if (comm != MPI_COMM_NULL) ERR(MPI_Comm_get_name(comm, text, &a), MPI_ERR_COMM);
    ERR(MPI_Comm_set_info(comm, MPI_INFO_NULL), MPI_ERR_COMM);
    ERR(MPI_Comm_get_info(comm, &info_out), MPI_ERR_COMM);
    ERR(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_ERR_COMM);
    ERR(MPI_Comm_get_errhandler(comm, &handler_out), MPI_ERR_COMM);
    ERR(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER), MPI_ERR_COMM);
    ERR(MPI_Comm_get_attr(comm, MPI_TAG_UB, &address, &flag), MPI_ERR_COMM);
    ERR(MPI_Comm_free(&copy), MPI_ERR_COMM);
    CHECK(copy == comm);
    ERR(MPI_Comm_disconnect(&copy), MPI_ERR_COMM);
    ERR(MPI_Intercomm_merge(comm, 0, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 0, 0, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Topo_test(comm, &a), MPI_ERR_COMM);
    ERR(MPI_Cart_create(comm, 1, (int[]){1}, (int[]){0}, 0, &comm_out), MPI_ERR_COMM);
    ERR(MPI_Dist_graph_create(comm, 0, c, c, c, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_out),
        MPI_ERR_COMM);
    ERR(MPI_Cartdim_get(comm, &a), MPI_ERR_COMM);
    ERR(MPI_Dist_graph_neighbors_count(comm, &a, &b, &flag), MPI_ERR_COMM);
    ERR(MPI_Send(&a, 1, MPI_INT, 0, 0, comm), MPI_ERR_COMM);
    ERR(MPI_Irecv(&a, 1, MPI_INT, 0, 0, comm, &request_out), MPI_ERR_COMM);
    ERR(MPI_Send_init(&a, 1, MPI_INT, 0, 0, comm, &request_out), MPI_ERR_COMM);
    ERR(MPI_Recv(&a, 1, MPI_INT, 0, 0, comm, &status), MPI_ERR_COMM);
    ERR(MPI_Iprobe(0, 0, comm, &flag, &status), MPI_ERR_COMM);
    ERR(MPI_Barrier(comm), MPI_ERR_COMM);
    ERR(MPI_Ibarrier(comm, &request_out), MPI_ERR_COMM);
    ERR(MPI_Barrier_init(comm, MPI_INFO_NULL, &request_out), MPI_ERR_COMM);
    ERR(MPI_Pack(&a, 1, MPI_INT, c, sizeof c, &b, comm), MPI_ERR_COMM);
    ERR(MPI_Pack_size(1, MPI_INT, comm, &a), MPI_ERR_COMM);
}

static void as_group(MPI_Group group) {
    MPI_Group copy = group;
    ERR(MPI_Group_size(group, &a), MPI_ERR_GROUP);
    ERR(MPI_Group_rank(group, &a), MPI_ERR_GROUP);
    ERR(MPI_Group_compare(group, MPI_GROUP_EMPTY, &a), MPI_ERR_GROUP);
    ERR(MPI_Group_compare(MPI_GROUP_EMPTY, group, &a), MPI_ERR_GROUP);
    ERR(MPI_Group_union(group, MPI_GROUP_EMPTY, &group_out), MPI_ERR_GROUP);
    ERR(MPI_Group_intersection(MPI_GROUP_EMPTY, group, &group_out), MPI_ERR_GROUP);
    ERR(MPI_Group_difference(group, group, &group_out), MPI_ERR_GROUP);
    ERR(MPI_Group_incl(group, 0, c, &group_out), MPI_ERR_GROUP);
    ERR(MPI_Group_excl(group, 0, c, &group_out), MPI_ERR_GROUP);
    ERR(MPI_Group_range_incl(group, 0, NULL, &group_out), MPI_ERR_GROUP);
    ERR(MPI_Group_translate_ranks(group, 0, c, MPI_GROUP_EMPTY, c), MPI_ERR_GROUP);
    ERR(MPI_Group_translate_ranks(MPI_GROUP_EMPTY, 0, c, group, c), MPI_ERR_GROUP);
    ERR(MPI_Comm_create(MPI_COMM_SELF, group, &comm_out), MPI_ERR_GROUP);
    ERR(MPI_Comm_create_group(MPI_COMM_SELF, group, 0, &comm_out), MPI_ERR_GROUP);
    ERR(MPI_Group_free(&copy), MPI_ERR_GROUP);
    CHECK(copy == group);
}

static void as_type(MPI_Datatype type) {
    MPI_Datatype copy = type;
    MPI_Aint lower, extent;
    MPI_Count count;
    ERR(MPI_Type_size(type, &a), MPI_ERR_TYPE);
    ERR(MPI_Type_size_c(type, &count), MPI_ERR_TYPE);
    ERR(MPI_Type_get_extent(type, &lower, &extent), MPI_ERR_TYPE);
    ERR(MPI_Type_get_true_extent(type, &lower, &extent), MPI_ERR_TYPE);
    ERR(MPI_Type_get_envelope(type, &a, &b, &flag, c), MPI_ERR_TYPE);
    ERR(MPI_Type_contiguous(1, type, &type_out), MPI_ERR_TYPE);
    ERR(MPI_Type_vector(1, 1, 1, type, &type_out), MPI_ERR_TYPE);
    ERR(MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, &type, &type_out), MPI_ERR_TYPE);
    ERR(MPI_Type_create_resized(type, 0, 4, &type_out), MPI_ERR_TYPE);
    ERR(MPI_Type_dup(type, &type_out), MPI_ERR_TYPE);
    ERR(MPI_Type_set_name(type, "name"), MPI_ERR_TYPE);
    if (type != MPI_DATATYPE_NULL) ERR(MPI_Type_get_name(type, text, &a), MPI_ERR_TYPE);
    ERR(MPI_Type_commit(&copy), MPI_ERR_TYPE);
    ERR(MPI_Type_free(&copy), MPI_ERR_TYPE);
    CHECK(copy == type);
    ERR(MPI_Send(&a, 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Send(&a, 0, type, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Irecv(&a, 1, type, 0, 0, MPI_COMM_SELF, &request_out), MPI_ERR_TYPE);
    ERR(MPI_Recv_init(&a, 1, type, 0, 0, MPI_COMM_SELF, &request_out), MPI_ERR_TYPE);
    ERR(MPI_Bcast(&a, 1, type, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Pack(&a, 1, type, c, sizeof c, &b, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Unpack(c, sizeof c, &b, &a, 1, type, MPI_COMM_SELF), MPI_ERR_TYPE);
    ERR(MPI_Pack_size(1, type, MPI_COMM_SELF, &a), MPI_ERR_TYPE);
    ERR(MPI_Get_count(&status, type, &a), MPI_ERR_TYPE);
    ERR(MPI_Get_elements(&status, type, &a), MPI_ERR_TYPE);
    ERR(MPI_Status_set_elements(&status, type, 1), MPI_ERR_TYPE);
    ERR(MPI_Reduce_local(&a, &b, 1, type, MPI_SUM), MPI_ERR_TYPE);
}

static void as_op(MPI_Op op) {
    MPI_Op copy = op;
    ERR(MPI_Op_commutative(op, &flag), MPI_ERR_OP);
    ERR(MPI_Reduce_local(&a, &b, 1, MPI_INT, op), MPI_ERR_OP);
    ERR(MPI_Allreduce(&a, &b, 1, MPI_INT, op, MPI_COMM_SELF), MPI_ERR_OP);
    ERR(MPI_Iallreduce(&a, &b, 1, MPI_INT, op, MPI_COMM_SELF, &request_out), MPI_ERR_OP);
    ERR(MPI_Scan_init(&a, &b, 1, MPI_INT, op, MPI_COMM_SELF, MPI_INFO_NULL, &request_out),
        MPI_ERR_OP);
    ERR(MPI_Op_free(&copy), MPI_ERR_OP);
    CHECK(copy == op);
}

static void as_info(MPI_Info info) {
    MPI_Info copy = info;
    ERR(MPI_Info_set(info, "key", "value"), MPI_ERR_INFO);
    ERR(MPI_Info_get_string(info, "key", &a, text, &flag), MPI_ERR_INFO);
    ERR(MPI_Info_get_nkeys(info, &a), MPI_ERR_INFO);
    ERR(MPI_Info_get_nthkey(info, 0, text), MPI_ERR_INFO);
    ERR(MPI_Info_delete(info, "key"), MPI_ERR_INFO);
    ERR(MPI_Info_dup(info, &info_out), MPI_ERR_INFO);
    ERR(MPI_Info_free(&copy), MPI_ERR_INFO);
    CHECK(copy == info);
}

/* Where no info at all may be given, another thing may not. */
static void as_optional_info(MPI_Info info) {
    ERR(MPI_Barrier_init(MPI_COMM_SELF, info, &request_out), MPI_ERR_INFO);
    ERR(MPI_Comm_set_info(MPI_COMM_SELF, info), MPI_ERR_INFO);
    ERR(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm_out), MPI_ERR_INFO);
    ERR(MPI_Dist_graph_create(MPI_COMM_SELF, 0, c, c, c, MPI_UNWEIGHTED, info, 0, &comm_out),
        MPI_ERR_INFO);
}

static void as_handler(MPI_Errhandler handler) {
    MPI_Errhandler copy = handler;
    ERR(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler), MPI_ERR_ERRHANDLER);
    ERR(MPI_Errhandler_free(&copy), MPI_ERR_ERRHANDLER);
    CHECK(copy == handler);
}

static void as_message(MPI_Message message) {
    MPI_Message copy = message;
    ERR(MPI_Mrecv(&a, 1, MPI_INT, &copy, &status), MPI_ERR_REQUEST);
    ERR(MPI_Imrecv(&a, 1, MPI_INT, &copy, &request_out), MPI_ERR_REQUEST);
    CHECK(copy == message);
}

static void as_keyval(int keyval) {
    int copy = keyval;
    ERR(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_get_attr(MPI_COMM_SELF, keyval, &address, &flag), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_free_keyval(&copy), MPI_ERR_KEYVAL);
    CHECK(copy == keyval);
    ERR(MPI_Type_set_attr(MPI_INT, keyval, NULL), MPI_ERR_KEYVAL);
    ERR(MPI_Type_get_attr(MPI_INT, keyval, &address, &flag), MPI_ERR_KEYVAL);
    ERR(MPI_Type_free_keyval(&copy), MPI_ERR_KEYVAL);
}

/* Handles of what there was. */
static void stale(void) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI_Comm old_comm = comm;
    OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
    as_comm(old_comm);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm)); /* May be in the same place. */
    CHECK(comm != old_comm);
    as_comm(old_comm);
    OK(MPI_Comm_free(&comm));

    MPI_Group group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    MPI_Group old_group = group;
    OK(MPI_Group_free(&group));
    CHECK(group == MPI_GROUP_NULL);
    as_group(old_group);

    MPI_Datatype type;
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    MPI_Datatype old_type = type;
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
    as_type(old_type);

    MPI_Info info;
    OK(MPI_Info_create(&info));
    MPI_Info old_info = info;
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    as_info(old_info);
    as_optional_info(old_info);
}

static void combine(void *in, void *inout, int *len, MPI_Datatype *of) {
    (void)of;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void hear(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

static void stale_functions(void) {
    MPI_Op op;
    OK(MPI_Op_create(combine, 1, &op));
    MPI_Op old_op = op;
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    as_op(old_op);

    MPI_Errhandler handler;
    OK(MPI_Comm_create_errhandler(hear, &handler));
    MPI_Errhandler old_handler = handler;
    OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    as_handler(old_handler);

    int keyval;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    int old_keyval = keyval;
    OK(MPI_Comm_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    as_keyval(old_keyval);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    collect_wrongs();
    FOR_WRONG(COMM, MPI_Comm, comm) as_comm(comm);
    FOR_WRONG(GROUP, MPI_Group, group) as_group(group);
    FOR_WRONG(TYPE, MPI_Datatype, type) as_type(type);
    FOR_WRONG(OP, MPI_Op, op) as_op(op);
    FOR_WRONG(INFO, MPI_Info, info) as_info(info);
    FOR_WRONG(INFO, MPI_Info, info) as_optional_info(info);
    FOR_WRONG(HANDLER, MPI_Errhandler, handler) as_handler(handler);
    FOR_WRONG(MESSAGE, MPI_Message, message) as_message(message);
    as_comm(MPI_COMM_NULL);
    as_group(MPI_GROUP_NULL);
    as_type(MPI_DATATYPE_NULL);
    as_op(MPI_OP_NULL);
    as_info(MPI_INFO_NULL);
    as_handler(MPI_ERRHANDLER_NULL);
    as_message(MPI_MESSAGE_NULL);
    static const int KEYVALS[] = {MPI_KEYVAL_INVALID, 0, -1, 1, 499, 499999, 1 << 30, -(1 << 30)};
    for (size_t i = 0; i < sizeof KEYVALS / sizeof *KEYVALS; i++) as_keyval(KEYVALS[i]);
    stale();
    stale_functions();
    free_wrongs();
    OK(MPI_Finalize());
    return 0;
}
