/* Attributes of datatypes: a copy gets what the callbacks say, and they are told of the end.
 *
 * ranks: 0
 */

#include "check.h"

static int copied, deleted, refuse;
static MPI_Datatype told;

static int copy(MPI_Datatype from, int key, void *extra, void *value, void *place, int *flag) {
    CHECK(extra == &copied);
    (void)key;
    told = from;
    copied++;
    if (refuse) return MPI_ERR_OTHER;
    *(void **)place = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Datatype from, int key, void *value, void *extra) {
    void *seen;
    int flag;
    CHECK(extra == &copied);
    (void)value;
    told = from;
    deleted++;
    /* The datatype is there as long as its callbacks are called. */
    OK(MPI_Type_get_attr(from, key, &seen, &flag));
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(void) {
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int key, flag, size;
    char values[4], *value;
    MPI_Datatype t, other = MPI_DATATYPE_NULL, kept;
    OK(MPI_Type_create_keyval(copy, delete, &key, &copied));
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_set_attr(t, key, &values[0]));
    OK(MPI_Type_dup(t, &other));
    CHECK(copied == 1 && told == t);
    OK(MPI_Type_get_attr(other, key, &value, &flag));
    CHECK(flag && value == &values[1]);

    kept = other;
    OK(MPI_Type_free(&other));
    CHECK(deleted == 1 && told == kept && other == MPI_DATATYPE_NULL);

    refuse = 1;
    ERR(MPI_Type_dup(t, &other), MPI_ERR_OTHER);
    CHECK_EQ(copied, 2);
    kept = t;
    ERR(MPI_Type_free(&t), MPI_ERR_OTHER);
    CHECK(deleted == 2 && t == kept);
    OK(MPI_Type_size(t, &size));
    CHECK_EQ(size, 8);
    refuse = 0;
    OK(MPI_Type_free(&t));
    CHECK(t == MPI_DATATYPE_NULL);

    /* Those of predefined ones stay with them. */
    OK(MPI_Type_set_attr(MPI_INT, key, &values[2]));
    OK(MPI_Type_dup(MPI_INT, &t));
    OK(MPI_Type_get_attr(t, key, &value, &flag));
    CHECK(flag && value == &values[3]);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_delete_attr(MPI_INT, key));
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Finalize());
    return 0;
}
