/* Communicators between two groups: how they are made, and what is made of them.
 *
 * ranks: 2 3 4 5
 */

#include "check.h"

static int rank, size, side, near, far;

static int compared(MPI_Comm one, MPI_Comm other) {
    int result = -1;
    OK(MPI_Comm_compare(one, other, &result));
    return result;
}

/* Each rank writes to the remote rank that follows its own, and hears from whoever follows. */
static void works(MPI_Comm comm) {
    int own = -1, here = -1, there = -1, is_inter = -1;
    OK(MPI_Comm_test_inter(comm, &is_inter));
    CHECK_EQ(is_inter, 1);
    OK(MPI_Comm_rank(comm, &own));
    OK(MPI_Comm_size(comm, &here));
    OK(MPI_Comm_remote_size(comm, &there));
    int one = 1, sum = -1;
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, there);
    MPI_Request sent;
    OK(MPI_Isend(&own, 1, MPI_INT, own % there, 4, comm, &sent));
    for (int each = own; each < there; each += here) {
        int got = -1;
        MPI_Status status;
        OK(MPI_Recv(&got, 1, MPI_INT, each, 4, comm, &status));
        CHECK(got == each && status.MPI_SOURCE == each);
    }
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

static void facts(MPI_Comm between) {
    int value = -1;
    MPI_Group local, remote, both, all;
    OK(MPI_Comm_rank(between, &value));
    CHECK_EQ(value, side ? rank - size / 2 : rank);
    OK(MPI_Comm_size(between, &value));
    CHECK_EQ(value, near);
    OK(MPI_Comm_remote_size(between, &value));
    CHECK_EQ(value, far);
    OK(MPI_Topo_test(between, &value));
    CHECK_EQ(value, MPI_UNDEFINED);
    OK(MPI_Comm_group(between, &local));
    OK(MPI_Comm_remote_group(between, &remote));
    OK(MPI_Group_size(remote, &value));
    CHECK_EQ(value, far);
    OK(MPI_Group_rank(remote, &value));
    CHECK_EQ(value, MPI_UNDEFINED);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(side ? MPI_Group_union(remote, local, &both) : MPI_Group_union(local, remote, &both));
    OK(MPI_Group_compare(both, all, &value));
    CHECK_EQ(value, MPI_IDENT);
    OK(MPI_Group_free(&both));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&remote));
    OK(MPI_Group_free(&local));
    CHECK_EQ(compared(between, between), MPI_IDENT);
    CHECK_EQ(compared(between, MPI_COMM_WORLD), MPI_UNEQUAL);
}

static void copies(MPI_Comm between) {
    MPI_Comm copy, again;
    MPI_Request request;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    OK(MPI_Comm_dup(between, &copy));
    CHECK_EQ(compared(between, copy), MPI_CONGRUENT);
    OK(MPI_Comm_set_name(copy, "two"));
    OK(MPI_Comm_get_name(copy, name, &len));
    CHECK_TEXT(name, "two");
    OK(MPI_Comm_idup(copy, &again, &request));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    works(again);
    OK(MPI_Comm_get_info(again, &info));
    OK(MPI_Comm_set_info(again, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_disconnect(&again));
    CHECK(again == MPI_COMM_NULL);
}

static void merged(MPI_Comm between) {
    MPI_Comm made;
    int place = -1, sum = -1;
    OK(MPI_Intercomm_merge(between, side, &made));
    CHECK_EQ(compared(made, MPI_COMM_WORLD), MPI_CONGRUENT);
    OK(MPI_Comm_free(&made));
    OK(MPI_Intercomm_merge(between, !side, &made));
    OK(MPI_Comm_rank(made, &place));
    CHECK_EQ(place, side ? rank - size / 2 : far + rank);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made));
    CHECK_EQ(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&made));
    OK(MPI_Intercomm_merge(between, 1, &made));
    CHECK(compared(made, MPI_COMM_WORLD) != MPI_UNEQUAL);
    OK(MPI_Comm_free(&made));
}

static void parts(MPI_Comm between) {
    MPI_Comm part;
    int here = -1, there = -1, own = -1;
    OK(MPI_Comm_rank(between, &own));
    /* Those of equal rank come together; who has no counterpart is left alone. */
    OK(MPI_Comm_split(between, own, 0, &part));
    CHECK_EQ(part != MPI_COMM_NULL, own < far);
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_size(part, &here));
        OK(MPI_Comm_remote_size(part, &there));
        CHECK(here == 1 && there == 1);
        works(part);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split(between, 3, -own, &part));
    OK(MPI_Comm_rank(part, &here));
    CHECK_EQ(here, near - 1 - own);
    works(part);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(between, MPI_UNDEFINED, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    OK(MPI_Comm_split_type(between, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    if (part != MPI_COMM_NULL) OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(between, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
    MPI_Group local, first;
    int zero[1] = {0};
    OK(MPI_Comm_group(between, &local));
    OK(MPI_Group_incl(local, 1, zero, &first));
    OK(MPI_Comm_create(between, first, &part));
    CHECK_EQ(part != MPI_COMM_NULL, own == 0);
    if (part != MPI_COMM_NULL) {
        works(part);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_create(between, side ? first : MPI_GROUP_EMPTY, &part));
    CHECK(part == MPI_COMM_NULL);
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&local));
}

/* The leaders may meet on an intercommunicator as well. */
static void met_between(MPI_Comm between, MPI_Comm half) {
    MPI_Comm made;
    OK(MPI_Intercomm_create(half, near - 1, between, far - 1, 9, &made));
    CHECK_EQ(compared(made, between), MPI_CONGRUENT);
    works(made);
    OK(MPI_Comm_free(&made));
}

static void refused(MPI_Comm between, MPI_Comm half) {
    MPI_Comm made;
    int value = -1;
    MPI_Group group;
    int leader = side ? 0 : size / 2;
    ERR(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, leader, 0, &made), MPI_ERR_COMM);
    ERR(MPI_Intercomm_create(between, 0, MPI_COMM_WORLD, leader, 0, &made), MPI_ERR_COMM);
    ERR(MPI_Intercomm_create(half, -1, MPI_COMM_WORLD, leader, 0, &made), MPI_ERR_RANK);
    ERR(MPI_Intercomm_create(half, near, MPI_COMM_WORLD, leader, 0, &made), MPI_ERR_RANK);
    ERR(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, -1, &made), MPI_ERR_TAG);
    /* The leader is told what was wrong, and the others that something was. */
    int own = side ? rank - size / 2 : rank, of_leader = own ? MPI_ERR_COMM : MPI_ERR_RANK;
    ERR(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, size, 0, &made), of_leader);
    ERR(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, -1, 0, &made), of_leader);
    ERR(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, leader, 0, &made), MPI_ERR_COMM);
    ERR(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made), MPI_ERR_COMM);
    ERR(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &made), MPI_ERR_COMM);
    ERR(MPI_Comm_test_inter(MPI_COMM_NULL, &value), MPI_ERR_COMM);
    ERR(MPI_Cart_create(between, 1, &near, &value, 0, &made), MPI_ERR_COMM);
    OK(MPI_Comm_group(between, &group));
    ERR(MPI_Comm_create_group(between, group, 0, &made), MPI_ERR_COMM);
    OK(MPI_Group_free(&group));
}

int main(int argc, char **argv) {
    MPI_Comm half, between;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    side = rank >= size / 2;
    near = side ? size - size / 2 : size / 2;
    far = size - near;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    /* What is said of the other side may be anything but at the leader. */
    int own = side ? rank - size / 2 : rank, leader = side ? 0 : size / 2;
    OK(MPI_Intercomm_create(half, 0, own ? MPI_COMM_NULL : MPI_COMM_WORLD, own ? -17 : leader,
                            1, &between));
    facts(between);
    works(between);
    copies(between);
    merged(between);
    parts(between);
    met_between(between, half);
    refused(between, half);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&half));
    OK(MPI_Finalize());
    return 0;
}
