/* The values of the binary interface: the constants that programs and bindings have compiled in, the
 * layout of the status, the width of handles. And the same values as the library gives them.
 *
 * ranks: 1 2
 * spec: 142, 143
 */

#include "check.h"
#include <stddef.h>

#define SAME(name, value) _Static_assert((name) == (value), #name)
#define HANDLE(name, value) CHECK_EQ((intptr_t)(name), value)

SAME(MPI_ANY_SOURCE, -1);
SAME(MPI_ANY_TAG, -2);
SAME(MPI_PROC_NULL, -3);
SAME(MPI_ROOT, -4);
SAME(MPI_UNDEFINED, -32766);
SAME(MPI_SUCCESS, 0);
SAME(MPI_MAX_ERROR_STRING, 512);
_Static_assert(sizeof(MPI_Status) == 8 * sizeof(int), "a status is eight integers");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "the source is the first");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == sizeof(int), "the tag is the second");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 2 * sizeof(int), "the error is the third");
_Static_assert(sizeof(MPI_Comm) == sizeof(void *), "handles are as wide as addresses");
_Static_assert(sizeof(MPI_Aint) == sizeof(void *) && (MPI_Aint)-1 < 0, "MPI_Aint");
_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "counts have 64 bits");

/* Which kind of handle an expression is: the types are incomplete structures, all different. */
#define IS(expression, type) CHECK_EQ(_Generic((expression), type: 1, default: 0), 1)

static void handles(void) {
    HANDLE(MPI_COMM_NULL, 0x100);
    HANDLE(MPI_COMM_WORLD, 0x101);
    HANDLE(MPI_COMM_SELF, 0x102);
    HANDLE(MPI_GROUP_EMPTY, 0x109);
    HANDLE(MPI_INFO_NULL, 0x130);
    HANDLE(MPI_INFO_ENV, 0x131);
    HANDLE(MPI_REQUEST_NULL, 0x180);
    HANDLE(MPI_SUM, 0x21);
    HANDLE(MPI_INT, 0x209);
    HANDLE(MPI_DOUBLE, 0x214);
    HANDLE(MPI_ERRORS_RETURN, 0x143);
    HANDLE(MPI_BOTTOM, 0);
    HANDLE(MPI_IN_PLACE, 1);
    HANDLE(MPI_UNWEIGHTED, 10);
    HANDLE(MPI_WEIGHTS_EMPTY, 11);
    HANDLE(MPI_STATUS_IGNORE, 0);
    IS(MPI_COMM_WORLD, struct MPI_ABI_Comm *);
    IS(MPI_GROUP_EMPTY, struct MPI_ABI_Group *);
    IS(MPI_INT, struct MPI_ABI_Datatype *);
    IS(MPI_SUM, struct MPI_ABI_Op *);
    IS(MPI_REQUEST_NULL, struct MPI_ABI_Request *);
    IS(MPI_INFO_NULL, struct MPI_ABI_Info *);
    IS(MPI_ERRORS_RETURN, struct MPI_ABI_Errhandler *);
    IS(MPI_MESSAGE_NULL, struct MPI_ABI_Message *);
    IS(MPI_SESSION_NULL, struct MPI_ABI_Session *);
    IS(MPI_IN_PLACE, void *);
    IS(MPI_UNWEIGHTED, int *);
}

/* As integers and back, what is predefined and what is made now. */
#define ROUND_TRIP(Kind, handle)                                       \
    do {                                                               \
        int as_int = MPI_##Kind##_toint(handle);                       \
        CHECK(MPI_##Kind##_fromint(as_int) == (handle));               \
        if ((intptr_t)(handle) < 4096) CHECK_EQ(as_int, (intptr_t)(handle)); \
        CHECK(MPI_##Kind##_f2c(MPI_##Kind##_c2f(handle)) == (handle)); \
    } while (0)

static void integers(void) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Request request;
    ROUND_TRIP(Comm, MPI_COMM_NULL);
    ROUND_TRIP(Comm, MPI_COMM_WORLD);
    ROUND_TRIP(Group, MPI_GROUP_EMPTY);
    ROUND_TRIP(Type, MPI_DOUBLE);
    ROUND_TRIP(Op, MPI_MAXLOC);
    ROUND_TRIP(Info, MPI_INFO_ENV);
    ROUND_TRIP(Request, MPI_REQUEST_NULL);
    ROUND_TRIP(Errhandler, MPI_ERRORS_RETURN);
    ROUND_TRIP(Message, MPI_MESSAGE_NO_PROC);
    ROUND_TRIP(Session, MPI_SESSION_NULL);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ROUND_TRIP(Comm, comm);
    OK(MPI_Comm_group(comm, &group));
    ROUND_TRIP(Group, group);
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    ROUND_TRIP(Type, type);
    OK(MPI_Info_create(&info));
    ROUND_TRIP(Info, info);
    OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    ROUND_TRIP(Request, request);
    OK(MPI_Start(&request));
    MPI_Request same = MPI_Request_fromint(MPI_Request_toint(request));
    OK(MPI_Wait(&same, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_free(&type));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&comm));
}

/* What the library writes are the constants of the header. */
static void written(void) {
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;
    MPI_Group group, empty;
    int index, count;
    memset(&status, 0x5a, sizeof status);
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, -1);
    CHECK_EQ(status.MPI_TAG, -2);
    OK(MPI_Recv(&count, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, -3);
    OK(MPI_Waitany(1, &request, &index, &status));
    CHECK_EQ(index, -32766);
    OK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
    CHECK_EQ((intptr_t)comm, 0x100);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Group_incl(group, 0, NULL, &empty));
    CHECK_EQ((intptr_t)empty, 0x109);
    OK(MPI_Group_rank(empty, &count));
    CHECK_EQ(count, -32766);
    OK(MPI_Group_free(&group));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    handles();
    integers();
    written();
    OK(MPI_Finalize());
    return 0;
}
