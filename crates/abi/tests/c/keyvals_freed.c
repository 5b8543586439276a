/* A key may be freed by the callback that it was made with, and by the program as well, as long as
 * an attribute is set under it; once nothing uses it, it is no key any more.
 *
 * ranks: 1
 */

#include "check.h"

static int deleted;

static int free_own_comm(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)value, (void)extra;
    deleted++;
    return MPI_Comm_free_keyval(&key);
}

static int free_own_type(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)value, (void)extra;
    deleted++;
    return MPI_Type_free_keyval(&key);
}

static void of_communicators(void) {
    MPI_Comm one, other;
    int key, copy, late;
    void *value;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &one));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_own_comm, &key, NULL));
    copy = late = key;
    OK(MPI_Comm_set_attr(one, key, NULL));
    OK(MPI_Comm_set_attr(other, key, NULL));
    OK(MPI_Comm_free(&one));
    CHECK_EQ(deleted, 1);
    OK(MPI_Comm_free_keyval(&key));
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free_keyval(&copy));
    /* The other one has its attribute still, and may lose it, but no new one can be set. */
    int flag = 0;
    OK(MPI_Comm_get_attr(other, late, &value, &flag));
    CHECK_EQ(flag, 1);
    ERR(MPI_Comm_set_attr(MPI_COMM_WORLD, late, NULL), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free(&other));
    CHECK_EQ(deleted, 2);
    ERR(MPI_Comm_free_keyval(&late), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_free_keyval(&(int){MPI_KEYVAL_INVALID}), MPI_ERR_KEYVAL);
}

static void of_datatypes(void) {
    MPI_Datatype one, other;
    int key, copy;
    OK(MPI_Type_dup(MPI_INT, &one));
    OK(MPI_Type_dup(MPI_INT, &other));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, free_own_type, &key, NULL));
    copy = key;
    OK(MPI_Type_set_attr(one, key, NULL));
    OK(MPI_Type_set_attr(other, key, NULL));
    OK(MPI_Type_free(&one));
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Type_free(&other));
    CHECK_EQ(deleted, 4);
    ERR(MPI_Type_free_keyval(&copy), MPI_ERR_KEYVAL);
}

int main(int argc, char **argv) {
    int key;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    of_communicators();
    of_datatypes();
    /* Also at the end of all, when the callbacks of MPI_COMM_SELF are called. */
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_own_comm, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Finalize());
    CHECK_EQ(deleted, 5);
    return 0;
}
