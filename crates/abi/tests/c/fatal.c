/* What ends the job under MPI_ERRORS_ARE_FATAL, the error handler that all communicators have at
 * first: it says on which rank, in which call, what was wrong and what can be done; the other ranks,
 * which wait for this one, are ended too. Nobody is killed by a signal of its own making.
 *
 * ranks: 2
 * seconds: 30
 * spec: 67
 * status: failure
 * stderr: MPI_ERRORS_ARE_FATAL
 * stderr: set MPI_ERRORS_RETURN
 * stderr: MOTET_INITIAL_ERRHANDLER=mpi_errors_return
 *
 * case: send_rank
 * stderr: rank 1: MPI_Send:
 * stderr: MPI_ERR_RANK
 * case: send_tag
 * stderr: rank 1: MPI_Isend:
 * stderr: MPI_ERR_TAG
 * case: count
 * stderr: rank 1: MPI_Bcast:
 * stderr: MPI_ERR_COUNT
 * case: root
 * stderr: rank 1: MPI_Bcast:
 * stderr: MPI_ERR_ROOT
 * case: type
 * stderr: rank 1: MPI_Allreduce:
 * stderr: MPI_ERR_TYPE
 * case: op
 * stderr: rank 1: MPI_Allreduce:
 * stderr: MPI_ERR_OP
 * case: in_place
 * stderr: rank 1: MPI_Bcast:
 * stderr: MPI_ERR_BUFFER
 * case: truncation
 * stderr: rank 1: MPI_Recv:
 * stderr: MPI_ERR_TRUNCATE
 * case: late_truncation
 * stderr: rank 1: MPI_Wait:
 * stderr: MPI_ERR_TRUNCATE
 * case: one_of_many
 * stderr: rank 1: MPI_Waitall:
 * stderr: MPI_ERR_TRUNCATE
 * case: free_active
 * stderr: rank 1: MPI_Request_free:
 * stderr: MPI_ERR_REQUEST
 * case: cancel_collective
 * stderr: rank 1: MPI_Cancel:
 * stderr: MPI_ERR_REQUEST
 * case: start_active
 * stderr: rank 1: MPI_Start:
 * stderr: MPI_ERR_REQUEST
 * case: start_null
 * stderr: rank 1: MPI_Start:
 * stderr: MPI_ERR_REQUEST
 * case: garbage_comm
 * stderr: rank 1: MPI_Barrier:
 * stderr: MPI_ERR_COMM
 * case: garbage_type
 * stderr: rank 1: MPI_Type_size:
 * stderr: MPI_ERR_TYPE
 * case: stale_comm
 * stderr: rank 1: MPI_Comm_rank:
 * stderr: MPI_ERR_COMM
 * case: stale_request
 * stderr: rank 1: MPI_Wait:
 * stderr: MPI_ERR_REQUEST
 * case: stale_type
 * stderr: rank 1: MPI_Type_commit:
 * stderr: MPI_ERR_TYPE
 * case: uncommitted
 * stderr: rank 1: MPI_Send:
 * stderr: MPI_ERR_TYPE
 * case: group
 * stderr: rank 1: MPI_Group_incl:
 * stderr: MPI_ERR_RANK
 * case: unsupported
 * stderr: rank 1: MPI_Win_create:
 * stderr: MPI_ERR_UNSUPPORTED_OPERATION
 * case: unnamed
 * stderr: rank 1: MPI_Bcast:
 * stderr: the error handler of a communicator of 1 rank without a name is MPI_ERRORS_ARE_FATAL
 * case: named
 * stderr: the ones who count
 * stderr: MPI_ERR_COUNT
 */

#include "check.h"

#define COMM MPI_COMM_WORLD
#define GARBAGE 0xdead0

static int a, b, four[4];
static MPI_Request request;
static MPI_Status status;

static void send_rank(void) { MPI_Send(&a, 1, MPI_INT, 2, 0, COMM); }
static void send_tag(void) { MPI_Isend(&a, 1, MPI_INT, 0, -5, COMM, &request); }
static void count(void) { MPI_Bcast(&a, -1, MPI_INT, 0, COMM); }
static void root(void) { MPI_Bcast(&a, 1, MPI_INT, 2, COMM); }
static void type(void) { MPI_Allreduce(&a, &b, 1, MPI_DATATYPE_NULL, MPI_SUM, COMM); }
static void op(void) { MPI_Allreduce(&a, &b, 1, MPI_FLOAT, MPI_BAND, COMM); }
static void in_place(void) { MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, COMM); }

static void send_four(void) { MPI_Isend(four, 4, MPI_INT, 1, 1, COMM, &request); }

static void truncation(void) {
    send_four();
    MPI_Recv(&a, 1, MPI_INT, 1, 1, COMM, MPI_STATUS_IGNORE);
}

static void late_truncation(void) {
    MPI_Request receive;
    send_four();
    MPI_Irecv(&a, 1, MPI_INT, 1, 1, COMM, &receive);
    MPI_Wait(&receive, &status);
}

static void one_of_many(void) {
    MPI_Request both[2];
    send_four();
    both[0] = request;
    MPI_Irecv(&a, 1, MPI_INT, 1, 1, COMM, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void free_active(void) {
    MPI_Ibarrier(COMM, &request);
    MPI_Request_free(&request);
}

static void cancel_collective(void) {
    MPI_Ibarrier(COMM, &request);
    MPI_Cancel(&request);
}

static void start_active(void) {
    MPI_Recv_init(&a, 1, MPI_INT, 0, 1, COMM, &request);
    MPI_Start(&request);
    MPI_Start(&request);
}

static void start_null(void) { MPI_Start(&(MPI_Request){MPI_REQUEST_NULL}); }
static void garbage_comm(void) { MPI_Barrier((MPI_Comm)GARBAGE); }
static void garbage_type(void) { MPI_Type_size((MPI_Datatype)GARBAGE, &a); }

static void stale_comm(void) {
    MPI_Comm comm, old;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    old = comm;
    MPI_Comm_free(&comm);
    MPI_Comm_rank(old, &a);
}

static void stale_request(void) {
    MPI_Request old;
    MPI_Irecv(&a, 1, MPI_INT, MPI_PROC_NULL, 0, COMM, &request);
    old = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&old, MPI_STATUS_IGNORE);
}

static void stale_type(void) {
    MPI_Datatype pair, old;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    old = pair;
    MPI_Type_free(&pair);
    MPI_Type_commit(&old);
}

static void uncommitted(void) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Send(four, 1, pair, 0, 0, COMM);
}

static void group(void) {
    MPI_Group world, other;
    MPI_Comm_group(COMM, &world);
    MPI_Group_incl(world, 1, &(int){7}, &other);
}

static void unsupported(void) {
    MPI_Win window;
    MPI_Win_create(four, sizeof four, 1, MPI_INFO_NULL, COMM, &window);
}

/* The communicator is called by its name. */
static void named(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_name(comm, "the ones who count");
    MPI_Bcast(&a, -1, MPI_INT, 0, comm);
}

/* One without a name is called by what it is. */
static void unnamed(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Bcast(&a, -1, MPI_INT, 0, comm);
}

#define CASE(name) {#name, name}
static const struct { const char *name; void (*work)(void); } CASES[] = {
    CASE(send_rank), CASE(send_tag), CASE(count), CASE(root), CASE(type), CASE(op), CASE(in_place),
    CASE(truncation), CASE(late_truncation), CASE(one_of_many), CASE(free_active),
    CASE(cancel_collective), CASE(start_active), CASE(start_null), CASE(garbage_comm),
    CASE(garbage_type), CASE(stale_comm), CASE(stale_request), CASE(stale_type), CASE(uncommitted),
    CASE(group), CASE(unsupported), CASE(named), CASE(unnamed),
};

int main(int argc, char **argv) {
    int rank;
    CHECK_EQ(argc, 2);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(COMM, &rank);
    if (rank == 1) {
        for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
            if (strcmp(CASES[i].name, argv[1]) == 0) CASES[i].work();
    } else {
        MPI_Recv(&a, 1, MPI_INT, 1, 99, COMM, MPI_STATUS_IGNORE);
    }
    /* Nobody comes here. */
    fprintf(stderr, "rank %d goes on\n", rank);
    MPI_Finalize();
    return 0;
}
