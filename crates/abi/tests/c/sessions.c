/* Sessions: sets of processes, groups and communicators from them, error handlers, and programs
 * that have no MPI_COMM_WORLD.
 *
 * ranks: 0 1 3
 *
 * case: alone
 * case: twice
 * case: beside
 *
 * case: again
 *
 * case: then-init
 */

#include "check.h"

static int calls;
static MPI_Session seen;

static void note(MPI_Session *session, int *code, ...) {
    (void)code;
    calls++;
    seen = *session;
}

static MPI_Session begin(void) {
    MPI_Session session = MPI_SESSION_NULL;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    return session;
}

static void sets(MPI_Session session) {
    int number = 0, len = 0, flag = 0;
    char name[MPI_MAX_PSET_NAME_LEN], size[16];
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number));
    CHECK(number >= 2);
    int worlds = 0, selves = 0;
    for (int n = 0; n < number; n++) {
        len = 0;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &len, NULL));
        CHECK(len > 1);
        int room = sizeof name;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, name));
        CHECK_EQ(strlen(name) + 1, len);
        worlds += strcmp(name, "mpi://WORLD") == 0;
        selves += strcmp(name, "mpi://SELF") == 0;
        MPI_Info info;
        OK(MPI_Session_get_pset_info(session, name, &info));
        int room_of_size = sizeof size;
        OK(MPI_Info_get_string(info, "mpi_size", &room_of_size, size, &flag));
        CHECK(flag && atoi(size) >= 1);
        OK(MPI_Info_free(&info));
    }
    CHECK_EQ(worlds, 1);
    CHECK_EQ(selves, 1);
    MPI_Info info;
    OK(MPI_Session_get_info(session, &info));
    OK(MPI_Info_free(&info));
}

static MPI_Comm made(MPI_Session session, const char *set, const char *tag) {
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm != MPI_COMM_NULL);
    OK(MPI_Group_free(&group));
    return comm;
}

static void sum(MPI_Comm comm) {
    int rank, size, total = -1;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(total, size * (size - 1) / 2);
}

static void communicators(MPI_Session session) {
    MPI_Comm world = made(session, "mpi://WORLD", "sessions.c/world");
    MPI_Comm again = made(session, "mpi://world", "sessions.c/world");
    MPI_Comm self = made(session, "mpi://SELF", "sessions.c/self");
    int result, size;
    sum(world);
    sum(again);
    OK(MPI_Comm_compare(world, again, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    OK(MPI_Comm_size(self, &size));
    CHECK_EQ(size, 1);
    ERR(MPI_Send(NULL, 0, MPI_INT, 1000, 0, world), MPI_ERR_RANK);
    MPI_Comm none = world;
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                  &none));
    CHECK(none == MPI_COMM_NULL);
    ERR(MPI_Comm_create_from_group(MPI_GROUP_NULL, "null", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                   &none),
        MPI_ERR_GROUP);
    OK(MPI_Comm_free(&self));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&world));
}

/* Rank 0 on one side, the others on the other. */
static void between(MPI_Session session) {
    MPI_Group all, first, others;
    MPI_Comm inter = MPI_COMM_NULL;
    int rank, size, zero = 0, local, remote;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    OK(MPI_Group_rank(all, &rank));
    OK(MPI_Group_size(all, &size));
    if (size > 1) {
        OK(MPI_Group_incl(all, 1, &zero, &first));
        OK(MPI_Group_excl(all, 1, &zero, &others));
        MPI_Group own = rank == 0 ? first : others, theirs = rank == 0 ? others : first;
        OK(MPI_Intercomm_create_from_groups(own, 0, theirs, 0, "sessions.c/inter", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &inter));
        OK(MPI_Comm_size(inter, &local));
        OK(MPI_Comm_remote_size(inter, &remote));
        CHECK_EQ(local, rank == 0 ? 1 : size - 1);
        CHECK_EQ(local + remote, size);
        OK(MPI_Barrier(inter));
        OK(MPI_Comm_free(&inter));
        OK(MPI_Group_free(&first));
        OK(MPI_Group_free(&others));
    }
    OK(MPI_Group_free(&all));
}

static void handlers(MPI_Session session) {
    MPI_Errhandler handler, found, of_comm;
    MPI_Group group;
    OK(MPI_Session_create_errhandler(note, &handler));
    OK(MPI_Session_set_errhandler(session, handler));
    OK(MPI_Session_get_errhandler(session, &found));
    CHECK(found == handler);
    OK(MPI_Errhandler_free(&handler));
    calls = 0;
    ERR(MPI_Group_from_session_pset(session, "@qerty", &group), MPI_ERR_ARG);
    CHECK_EQ(calls, 1);
    CHECK(seen == session);
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK_EQ(calls, 2);
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&found));
    int len = 0;
    ERR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &len, NULL), MPI_ERR_ARG);
    ERR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &len, NULL), MPI_ERR_ARG);
    OK(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)note, &of_comm));
    ERR(MPI_Session_set_errhandler(session, of_comm), MPI_ERR_ERRHANDLER);
    OK(MPI_Errhandler_free(&of_comm));
}

static void work(MPI_Session session) {
    sets(session);
    communicators(session);
    between(session);
    handlers(session);
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : "alone";
    int flag;
    MPI_Session first = MPI_SESSION_NULL, second = MPI_SESSION_NULL;
    if (strcmp(wanted, "beside") == 0) {
        OK(MPI_Init(&argc, &argv));
        OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        ERR(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &flag), MPI_ERR_SESSION);
        ERR(MPI_Session_finalize(&first), MPI_ERR_SESSION);
    }
    first = begin();
    work(first);
    if (strcmp(wanted, "twice") == 0) {
        second = begin();
        CHECK(second != first);
        work(second);
        OK(MPI_Session_finalize(&first));
        CHECK(first == MPI_SESSION_NULL);
        work(second);
        OK(MPI_Session_finalize(&second));
    } else if (strcmp(wanted, "beside") == 0) {
        sum(MPI_COMM_WORLD);
        OK(MPI_Finalize());
        /* The session goes on. */
        work(first);
        OK(MPI_Session_finalize(&first));
    } else if (strcmp(wanted, "again") == 0) {
        OK(MPI_Session_finalize(&first));
        for (int i = 0; i < 3; i++) {
            first = begin();
            work(first);
            OK(MPI_Session_finalize(&first));
        }
    } else if (strcmp(wanted, "then-init") == 0) {
        MPI_Info info;
        OK(MPI_Info_create(&info));
        OK(MPI_Session_finalize(&first));
        OK(MPI_Init(&argc, &argv));
        sum(MPI_COMM_WORLD);
        OK(MPI_Finalize());
        /* Hints outlive everything. */
        OK(MPI_Info_set(info, "key", "value"));
        OK(MPI_Info_free(&info));
    } else {
        OK(MPI_Initialized(&flag));
        CHECK_EQ(flag, 0);
        OK(MPI_Session_finalize(&first));
        OK(MPI_Finalized(&flag));
        CHECK_EQ(flag, 0);
    }
    return 0;
}
