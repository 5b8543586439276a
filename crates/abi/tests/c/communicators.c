/* Communicators: copies, parts, names, hints, comparisons, and their end.
 *
 * ranks: 1 2 3 5
 * spec: 6, 7, 55, 64
 */

#include "check.h"

static int rank, size;

static int compared(MPI_Comm one, MPI_Comm other) {
    int result = -1;
    OK(MPI_Comm_compare(one, other, &result));
    return result;
}

/* All ranks of a communicator can talk on it, and nobody else does. */
static void works(MPI_Comm comm) {
    int sum = -1, one = 1, ranks = -1;
    OK(MPI_Comm_size(comm, &ranks));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, ranks);
}

static void copies(void) {
    MPI_Comm copy = MPI_COMM_NULL, again = MPI_COMM_NULL;
    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_EQ(compared(MPI_COMM_WORLD, copy), MPI_CONGRUENT);
    CHECK_EQ(compared(copy, copy), MPI_IDENT);
    works(copy);
    OK(MPI_Comm_set_name(copy, " a copy "));
    OK(MPI_Comm_get_name(copy, name, &len));
    CHECK_TEXT(name, " a copy ");
    CHECK_EQ(len, 8);
    OK(MPI_Comm_dup(copy, &again));
    OK(MPI_Comm_get_name(again, name, &len));
    CHECK_TEXT(name, "");
    CHECK_EQ(len, 0);
    OK(MPI_Comm_free(&copy));
    CHECK(copy == MPI_COMM_NULL);
    works(again);
    OK(MPI_Comm_disconnect(&again));
    CHECK(again == MPI_COMM_NULL);
}

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME], large[3 * MPI_MAX_OBJECT_NAME];
    int len = -1;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &len));
    CHECK_TEXT(name, "MPI_COMM_WORLD");
    CHECK_EQ(len, 14);
    OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &len));
    CHECK_TEXT(name, "MPI_COMM_SELF");
    OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &len));
    CHECK_TEXT(name, "MPI_COMM_NULL");
    MPI_Comm copy;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = 0;
    OK(MPI_Comm_set_name(copy, large));
    OK(MPI_Comm_get_name(copy, name, &len));
    CHECK_EQ(len, MPI_MAX_OBJECT_NAME - 1);
    CHECK_EQ(strlen(name), MPI_MAX_OBJECT_NAME - 1);
    OK(MPI_Comm_free(&copy));
}

static void hints(void) {
    MPI_Info info, used;
    MPI_Comm copy, again;
    char value[MPI_MAX_INFO_VAL];
    int flag = -1, len = sizeof value;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "deterministic", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy));
    OK(MPI_Info_set(info, "deterministic", "false"));
    OK(MPI_Comm_get_info(copy, &used));
    OK(MPI_Info_get_string(used, "deterministic", &len, value, &flag));
    CHECK(flag);
    CHECK_TEXT(value, "true");
    OK(MPI_Info_free(&used));
    OK(MPI_Comm_set_info(copy, info));
    OK(MPI_Comm_get_info(copy, &used));
    len = sizeof value;
    OK(MPI_Info_get_string(used, "deterministic", &len, value, &flag));
    CHECK(flag);
    CHECK_TEXT(value, "false");
    OK(MPI_Info_free(&used));
    OK(MPI_Info_free(&info));
    /* A copy does not take hints over. */
    OK(MPI_Comm_dup(copy, &again));
    OK(MPI_Comm_get_info(again, &used));
    len = sizeof value;
    OK(MPI_Info_get_string(used, "deterministic", &len, value, &flag));
    CHECK(!flag || strcmp(value, "true") != 0);
    OK(MPI_Info_free(&used));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&copy));
}

static void parts(void) {
    MPI_Comm part;
    int place = -1, members = -1;
    /* In reverse, by parity. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part));
    OK(MPI_Comm_rank(part, &place));
    OK(MPI_Comm_size(part, &members));
    CHECK_EQ(members, (size + 1 - rank % 2) / 2);
    CHECK_EQ(place, members - 1 - rank / 2);
    CHECK_EQ(compared(part, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    works(part);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part));
    CHECK_EQ(compared(part, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &part));
    CHECK_EQ(part == MPI_COMM_NULL, rank == 0);
    if (rank > 0) {
        works(part);
        OK(MPI_Comm_free(&part));
    }
    MPI_Group all, first;
    int ranges[1][3] = {{size / 2, 0, -1}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_range_incl(all, 1, ranges, &first));
    OK(MPI_Comm_create(MPI_COMM_WORLD, first, &part));
    CHECK_EQ(part != MPI_COMM_NULL, rank <= size / 2);
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_rank(part, &place));
        CHECK_EQ(place, size / 2 - rank);
        works(part);
        OK(MPI_Comm_free(&part));
        /* By the members alone. */
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, first, 3, &part));
        works(part);
        OK(MPI_Comm_free(&part));
    } else {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, first, 3, &part));
        CHECK(part == MPI_COMM_NULL);
    }
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &part));
    CHECK(part == MPI_COMM_NULL);
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&all));
}

static void kinds(void) {
    MPI_Comm part;
    MPI_Info info;
    int members = -1;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &part));
    CHECK_EQ(compared(part, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
    int kind = rank == 0 ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, kind, 0, MPI_INFO_NULL, &part));
    CHECK_EQ(part != MPI_COMM_NULL, rank == 0);
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_size(part, &members));
        CHECK_EQ(members, 1);
        OK(MPI_Comm_free(&part));
    }
    int guided[2] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    for (int each = 0; each < 2; each++) {
        OK(MPI_Info_create(&info));
        OK(MPI_Comm_split_type(MPI_COMM_WORLD, guided[each], 0, info, &part));
        CHECK(part == MPI_COMM_NULL);
        OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
        OK(MPI_Comm_split_type(MPI_COMM_WORLD, guided[each], 0, info, &part));
        CHECK_EQ(compared(part, MPI_COMM_WORLD), MPI_CONGRUENT);
        OK(MPI_Comm_free(&part));
        OK(MPI_Info_set(info, "mpi_hw_resource_type", "nothing that there is"));
        OK(MPI_Comm_split_type(MPI_COMM_WORLD, guided[each], 0, info, &part));
        CHECK(part == MPI_COMM_NULL);
        OK(MPI_Info_free(&info));
    }
}

/* Several copies under way at once, completed in reverse, together with something else. */
static void nonblocking_copies(void) {
    enum { COPIES = 5 };
    MPI_Comm copies[COPIES], original;
    MPI_Request requests[COPIES + 1];
    MPI_Info info;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &original));
    for (int each = 0; each < COPIES; each++) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "deterministic", "true"));
        if (each % 2) {
            OK(MPI_Comm_idup_with_info(original, info, &copies[each], &requests[each]));
        } else {
            OK(MPI_Comm_idup(original, &copies[each], &requests[each]));
        }
        OK(MPI_Info_free(&info));
        int ranks = -1;
        /* Not there yet, but its error handler can be set. */
        ERR(MPI_Comm_size(copies[each], &ranks), MPI_ERR_COMM);
        ERR(MPI_Barrier(copies[each]), MPI_ERR_COMM);
        OK(MPI_Comm_set_errhandler(copies[each], each ? MPI_ERRORS_ABORT : MPI_ERRORS_RETURN));
    }
    OK(MPI_Ibarrier(original, &requests[COPIES]));
    /* The original may go before its copies are there. */
    OK(MPI_Comm_free(&original));
    OK(MPI_Wait(&requests[COPIES - 1], MPI_STATUS_IGNORE));
    CHECK(requests[COPIES - 1] == MPI_REQUEST_NULL);
    works(copies[COPIES - 1]);
    int flag = 0;
    while (!flag) {
        OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    }
    OK(MPI_Waitall(COPIES + 1, requests, MPI_STATUSES_IGNORE));
    for (int each = 0; each < COPIES; each++) {
        MPI_Info used;
        char value[8];
        int len = sizeof value, is_set = -1;
        MPI_Errhandler handler;
        OK(MPI_Comm_get_errhandler(copies[each], &handler));
        CHECK(handler == (each ? MPI_ERRORS_ABORT : MPI_ERRORS_RETURN));
        CHECK_EQ(compared(copies[each], MPI_COMM_WORLD), MPI_CONGRUENT);
        works(copies[each]);
        OK(MPI_Comm_get_info(copies[each], &used));
        OK(MPI_Info_get_string(used, "deterministic", &len, value, &is_set));
        CHECK_EQ(is_set && strcmp(value, "true") == 0, each % 2);
        OK(MPI_Info_free(&used));
        for (int other = 0; other < each; other++) {
            CHECK_EQ(compared(copies[each], copies[other]), MPI_CONGRUENT);
        }
    }
    for (int each = 0; each < COPIES; each++) OK(MPI_Comm_free(&copies[each]));
}

/* A communicator may be freed while operations on it are under way. */
static void freed_in_use(void) {
    MPI_Comm copy;
    MPI_Request requests[4];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int got = -1, sum = -1, one = 1, own = rank;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Irecv(&got, 1, MPI_INT, left, 5, copy, &requests[0]));
    OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy, &requests[1]));
    OK(MPI_Ibarrier(copy, &requests[2]));
    OK(MPI_Isend(&own, 1, MPI_INT, right, 5, copy, &requests[3]));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(got, left);
    CHECK_EQ(sum, size);
}

/* Persistent operations outlive their communicator, and can be started after it has been freed;
 * those that are inactive when it is disconnected do not keep it. */
static void freed_before_start(void) {
    MPI_Comm copy;
    MPI_Info info;
    MPI_Request requests[3], left_over;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int got = -1, sum = -1, one = 1, own = rank;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Info_create(&info));
    OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, copy, info, &requests[0]));
    OK(MPI_Info_free(&info));
    OK(MPI_Recv_init(&got, 1, MPI_INT, left, 5, copy, &requests[1]));
    OK(MPI_Send_init(&own, 1, MPI_INT, right, 5, copy, &requests[2]));
    OK(MPI_Comm_free(&copy));
    for (int turn = 0; turn < 3; turn++) {
        one = turn + 1;
        own = 10 * turn + rank;
        OK(MPI_Startall(3, requests));
        OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(sum, size * (turn + 1));
        CHECK_EQ(got, 10 * turn + left);
    }
    for (int each = 0; each < 3; each++) OK(MPI_Request_free(&requests[each]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Barrier_init(copy, MPI_INFO_NULL, &left_over));
    OK(MPI_Comm_disconnect(&copy));
    OK(MPI_Request_free(&left_over));
}

static void handlers(void) {
    MPI_Comm parent, child;
    MPI_Errhandler handler;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_ABORT));
    OK(MPI_Comm_split(parent, 0, 0, &child));
    OK(MPI_Comm_get_errhandler(child, &handler));
    CHECK(handler == MPI_ERRORS_ABORT);
    OK(MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN));
    OK(MPI_Comm_get_errhandler(parent, &handler));
    CHECK(handler == MPI_ERRORS_ABORT);
    OK(MPI_Comm_free(&child));
    OK(MPI_Comm_free(&parent));
}

static void refused(void) {
    MPI_Comm none = MPI_COMM_NULL, made, world = MPI_COMM_WORLD, self = MPI_COMM_SELF, copy, stale;
    MPI_Comm garbage = (MPI_Comm)(uintptr_t)0x1234567890u;
    MPI_Group all;
    MPI_Info info;
    MPI_Request request;
    int value = -1;
    ERR(MPI_Comm_free(&none), MPI_ERR_COMM);
    ERR(MPI_Comm_disconnect(&none), MPI_ERR_COMM);
    ERR(MPI_Comm_free(&world), MPI_ERR_COMM);
    ERR(MPI_Comm_free(&self), MPI_ERR_COMM);
    CHECK(world == MPI_COMM_WORLD && self == MPI_COMM_SELF);
    ERR(MPI_Comm_free(&garbage), MPI_ERR_COMM);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    stale = copy;
    OK(MPI_Comm_free(&copy));
    ERR(MPI_Comm_free(&stale), MPI_ERR_COMM);
    ERR(MPI_Comm_size(stale, &value), MPI_ERR_COMM);
    ERR(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM);
    ERR(MPI_Comm_dup(MPI_COMM_NULL, &made), MPI_ERR_COMM);
    ERR(MPI_Comm_idup(MPI_COMM_NULL, &made, &request), MPI_ERR_COMM);
    ERR(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    ERR(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made), MPI_ERR_COMM);
    ERR(MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &made), MPI_ERR_ARG);
    ERR(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &made), MPI_ERR_ARG);
    ERR(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &value), MPI_ERR_COMM);
    ERR(MPI_Comm_group(MPI_COMM_NULL, &all), MPI_ERR_COMM);
    ERR(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    ERR(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &made), MPI_ERR_GROUP);
    ERR(MPI_Comm_get_info(MPI_COMM_NULL, &info), MPI_ERR_COMM);
    ERR(MPI_Comm_set_name(MPI_COMM_NULL, "none"), MPI_ERR_COMM);
    ERR(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    ERR(MPI_Comm_remote_group(MPI_COMM_WORLD, &all), MPI_ERR_COMM);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    ERR(MPI_Comm_create_group(MPI_COMM_WORLD, all, -1, &made), MPI_ERR_TAG);
    if (size > 1) ERR(MPI_Comm_create(MPI_COMM_SELF, all, &made), MPI_ERR_GROUP);
    OK(MPI_Group_free(&all));
    OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &value));
    CHECK_EQ(value, 0);
    OK(MPI_Comm_get_parent(&made));
    CHECK(made == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    copies();
    names();
    hints();
    parts();
    kinds();
    nonblocking_copies();
    freed_in_use();
    freed_before_start();
    handlers();
    refused();
    OK(MPI_Finalize());
    return 0;
}
