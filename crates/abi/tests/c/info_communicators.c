/* Hints of communicators and sessions: each has all that the library knows, as it was given when
 * the object was made or as it is without; what the library does not know is not given back.
 *
 * ranks: 1 2
 */

#include "check.h"

static const char *ASSERTIONS[] = {
    "mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering",
};
enum { COUNT = sizeof ASSERTIONS / sizeof *ASSERTIONS };

/* Says one thing of an info; nothing must be there if nothing is expected. */
static void says(MPI_Info info, const char *key, const char *expected) {
    char value[MPI_MAX_INFO_VAL] = "";
    int len = sizeof value, flag = -1;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    if (flag && !expected) fprintf(stderr, "%s is %s\n", key, value);
    CHECK_EQ(flag, expected != NULL);
    if (expected) CHECK_TEXT(value, expected);
}

static void comm_says(MPI_Comm comm, const char *key, const char *expected) {
    MPI_Info info;
    OK(MPI_Comm_get_info(comm, &info));
    says(info, key, expected);
    OK(MPI_Info_free(&info));
}

/* What each communicator of this test was made with. */
static MPI_Info given(void) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "perhaps"));
    OK(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system"));
    OK(MPI_Info_set(info, "deterministic", "true"));
    OK(MPI_Info_set(info, "nobody_knows_this", "true"));
    return info;
}

static void has_what_was_given(MPI_Comm *comm) {
    comm_says(*comm, "mpi_assert_exact_length", "true");
    comm_says(*comm, "mpi_assert_no_any_tag", "false");
    comm_says(*comm, "mpi_assert_memory_alloc_kinds", "system");
    comm_says(*comm, "deterministic", "true");
    comm_says(*comm, "nobody_knows_this", NULL);
    comm_says(*comm, "mpi_memory_alloc_kinds", "mpi,system");
    MPI_Comm copy;
    OK(MPI_Comm_dup(*comm, &copy));
    comm_says(copy, "mpi_assert_exact_length", "false");
    comm_says(copy, "deterministic", NULL);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(comm));
}

static void at_creation(void) {
    MPI_Info info = given();
    MPI_Comm comm;
    MPI_Group group;
    MPI_Request request;
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    has_what_was_given(&comm);
    OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    has_what_was_given(&comm);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm));
    has_what_was_given(&comm);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL,
                                      MPI_UNWEIGHTED, info, 0, &comm));
    has_what_was_given(&comm);
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, info, 0, &comm));
    has_what_was_given(&comm);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Comm_create_from_group(group, "hints", info, MPI_ERRORS_RETURN, &comm));
    has_what_was_given(&comm);
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_info(comm, info));
    has_what_was_given(&comm);
    /* Kinds of memory that there are not cannot be promised. */
    OK(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system,cuda:device"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    comm_says(comm, "mpi_assert_memory_alloc_kinds", NULL);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Info_free(&info));
}

static void between_groups(int rank) {
    MPI_Info info = given();
    MPI_Comm half, between, part;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank, 7, &between));
    OK(MPI_Comm_split_type(between, MPI_COMM_TYPE_SHARED, 0, info, &part));
    has_what_was_given(&part);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&half));
    OK(MPI_Info_free(&info));
}

static void of_the_world(void) {
    MPI_Info info;
    int number = -1;
    OK(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    says(info, "mpi_memory_alloc_kinds", "mpi,system");
    for (int i = 0; i < COUNT; i++) says(info, ASSERTIONS[i], "false");
    OK(MPI_Info_get_nkeys(info, &number));
    CHECK_EQ(number, COUNT + 1);
    OK(MPI_Info_free(&info));
}

static void of_sessions(void) {
    static const char *levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                   "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    static const char *misspelt[] = {"MPI_THREAD_MANY", "multiple", "", "MPI_THREAD_SINGLE "};
    MPI_Info wish, info;
    MPI_Session session;
    OK(MPI_Info_create(&wish));
    OK(MPI_Info_set(wish, "nobody_knows_this", "true"));
    for (int i = 0; i < 4; i++) {
        OK(MPI_Info_set(wish, "thread_level", levels[i]));
        OK(MPI_Session_init(wish, MPI_ERRORS_RETURN, &session));
        OK(MPI_Session_get_info(session, &info));
        says(info, "mpi_memory_alloc_kinds", "mpi,system");
        says(info, "thread_level", "MPI_THREAD_MULTIPLE");
        says(info, "nobody_knows_this", NULL);
        OK(MPI_Info_free(&info));
        OK(MPI_Session_finalize(&session));
    }
    for (int i = 0; i < 4; i++) {
        OK(MPI_Info_set(wish, "thread_level", misspelt[i]));
        ERR(MPI_Session_init(wish, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
        CHECK(session == MPI_SESSION_NULL);
    }
    OK(MPI_Info_free(&wish));
}

int main(int argc, char **argv) {
    int rank, size;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    of_the_world();
    at_creation();
    if (size == 2) between_groups(rank);
    of_sessions();
    OK(MPI_Finalize());
    return 0;
}
