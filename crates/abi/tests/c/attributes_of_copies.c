/* What happens to the attributes of a communicator when it is copied and when it ends.
 *
 * ranks: 1 2 3
 */

#include "check.h"

enum { REFUSED = 4711 };

static int size, copied, deleted, refuse;
static MPI_Comm original;
static int order[4], orders;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    int ranks = -1;
    CHECK(comm == original);
    CHECK(key != MPI_KEYVAL_INVALID);
    CHECK(extra == &copied);
    OK(MPI_Comm_size(comm, &ranks));
    CHECK_EQ(ranks, size);
    if (refuse) return REFUSED;
    copied++;
    *(void **)out = (char *)in + 1;
    *flag = (char *)in != (char *)1000;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *in, void *extra) {
    int ranks = -1;
    (void)key;
    CHECK(extra == &copied);
    OK(MPI_Comm_size(comm, &ranks));
    CHECK_EQ(ranks, size);
    deleted++;
    if (orders < 4) order[orders++] = (int)(intptr_t)in;
    return refuse ? REFUSED : MPI_SUCCESS;
}

static long value_of(MPI_Comm comm, int key) {
    void *value = NULL;
    int flag = -1;
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    return flag ? (long)(intptr_t)value : -1;
}

int main(int argc, char **argv) {
    int counts, shares, stays;
    MPI_Comm one, two, part;
    MPI_Request request;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_create_keyval(copy, delete, &counts, &copied));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &shares, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &stays, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &original));
    OK(MPI_Comm_set_attr(original, counts, (void *)10));
    OK(MPI_Comm_set_attr(original, shares, (void *)20));
    OK(MPI_Comm_set_attr(original, stays, (void *)30));

    /* The callbacks are told the original, and say what the copy gets. */
    OK(MPI_Comm_dup(original, &one));
    CHECK_EQ(copied, 1);
    CHECK_EQ(value_of(one, counts), 11);
    CHECK_EQ(value_of(one, shares), 20);
    CHECK_EQ(value_of(one, stays), -1);
    CHECK_EQ(value_of(original, counts), 10);

    /* They are called when a nonblocking copy begins. */
    OK(MPI_Comm_idup(original, &two, &request));
    CHECK_EQ(copied, 2);
    OK(MPI_Comm_set_attr(original, shares, (void *)21));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(copied, 2);
    CHECK_EQ(value_of(two, counts), 11);
    CHECK_EQ(value_of(two, shares), 20);

    /* A part is no copy. */
    OK(MPI_Comm_split(original, 0, 0, &part));
    CHECK_EQ(copied, 2);
    CHECK_EQ(value_of(part, shares), -1);
    OK(MPI_Comm_free(&part));
    CHECK_EQ(deleted, 0);

    /* One that is not wanted is not there. */
    OK(MPI_Comm_delete_attr(original, counts));
    CHECK_EQ(deleted, 1);
    OK(MPI_Comm_set_attr(original, counts, (void *)1000));
    OK(MPI_Comm_dup(original, &part));
    CHECK_EQ(value_of(part, counts), -1);
    CHECK_EQ(value_of(part, shares), 21);
    OK(MPI_Comm_free(&part));

    /* A callback that fails makes the copy fail, with its code. */
    refuse = 1;
    CHECK_EQ(MPI_Comm_dup(original, &part), REFUSED);
    CHECK_EQ(MPI_Comm_idup(original, &part, &request), REFUSED);
    refuse = 0;
    OK(MPI_Barrier(original));

    /* At the end what was set last goes first, while the handle is good. */
    deleted = orders = 0;
    int second;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &second, &copied));
    OK(MPI_Comm_set_attr(one, second, (void *)12));
    /* A key that has been freed counts as long as something is set under it. */
    OK(MPI_Comm_free_keyval(&second));
    OK(MPI_Comm_free_keyval(&counts));
    OK(MPI_Comm_free(&one));
    CHECK(one == MPI_COMM_NULL);
    CHECK(deleted == 2 && order[0] == 12 && order[1] == 11);
    OK(MPI_Comm_disconnect(&two));
    CHECK(deleted == 3 && order[2] == 11);

    /* What a callback says of the end is told; then there is nothing more to be asked. */
    refuse = 1;
    CHECK_EQ(MPI_Comm_free(&original), REFUSED);
    refuse = 0;
    CHECK_EQ(deleted, 4);
    CHECK(original != MPI_COMM_NULL);
    OK(MPI_Comm_free(&original));
    CHECK_EQ(deleted, 4);
    OK(MPI_Finalize());
    return 0;
}
