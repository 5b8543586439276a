/* Attributes of communicators and datatypes: copies, deletions, their order, and keys that have
 * been freed.
 *
 * ranks: 1 2
 */

#include "check.h"

static int deleted[64], deletions, copies;
static int fail_copy, fail_delete;
static char state;

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    CHECK(comm != MPI_COMM_NULL && keyval > 0);
    CHECK(extra == &state);
    copies++;
    if (fail_copy) return fail_copy;
    *(void **)out = (char *)in + 1;
    *flag = (intptr_t)in != 1000;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra) {
    int rank;
    CHECK(keyval > 0 && extra == &state);
    OK(MPI_Comm_rank(comm, &rank));
    if (fail_delete) return fail_delete;
    deleted[deletions++] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag) {
    CHECK(type != MPI_DATATYPE_NULL && keyval > 0 && extra == &state);
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra) {
    CHECK(type != MPI_DATATYPE_NULL && keyval > 0 && extra == &state);
    deleted[deletions++] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static int make(void) {
    int keyval = MPI_KEYVAL_INVALID;
    OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &keyval, &state));
    CHECK(keyval > 0);
    return keyval;
}

static void set(MPI_Comm comm, int keyval, int value) {
    OK(MPI_Comm_set_attr(comm, keyval, (void *)(intptr_t)value));
}

/* The value, or -1 if there is none. */
static int get(MPI_Comm comm, int keyval) {
    void *value = NULL;
    int flag = -1;
    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? (int)(intptr_t)value : -1;
}

static void values(void) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int keyval = make(), other = make();
    CHECK(keyval != other);
    CHECK_EQ(get(comm, keyval), -1);
    set(comm, keyval, 10);
    CHECK_EQ(get(comm, keyval), 10);
    CHECK_EQ(get(comm, other), -1);
    CHECK_EQ(get(MPI_COMM_WORLD, keyval), -1);
    deletions = 0;
    set(comm, keyval, 11);
    CHECK_EQ(deletions, 1);
    CHECK_EQ(deleted[0], 10);
    fail_delete = MPI_ERR_OTHER;
    ERR(MPI_Comm_delete_attr(comm, keyval), MPI_ERR_OTHER);
    fail_delete = 0;
    CHECK_EQ(get(comm, keyval), 11);
    OK(MPI_Comm_delete_attr(comm, keyval));
    CHECK_EQ(deletions, 2);
    CHECK_EQ(get(comm, keyval), -1);
    OK(MPI_Comm_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free_keyval(&other));
    OK(MPI_Comm_free(&comm));
}

static void copying(void) {
    MPI_Comm comm, copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int own = make(), never, shared;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &never, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &shared, NULL));
    set(comm, own, 20);
    set(comm, never, 21);
    set(comm, shared, 22);
    copies = 0;
    OK(MPI_Comm_dup(comm, &copy));
    CHECK_EQ(copies, 1);
    CHECK_EQ(get(copy, own), 21);
    CHECK_EQ(get(copy, never), -1);
    CHECK_EQ(get(copy, shared), 22);
    CHECK_EQ(get(comm, own), 20);
    deletions = 0;
    OK(MPI_Comm_free(&copy));
    CHECK_EQ(deletions, 1);
    CHECK_EQ(deleted[0], 21);
    /* One that the callback does not want copied. */
    set(comm, own, 1000);
    OK(MPI_Comm_dup(comm, &copy));
    CHECK_EQ(get(copy, own), -1);
    OK(MPI_Comm_free(&copy));
    /* An error of a callback is that of the call, with its code. */
    fail_copy = 4711;
    copy = MPI_COMM_NULL;
    CHECK_EQ(MPI_Comm_dup(comm, &copy), 4711);
    fail_copy = 0;
    OK(MPI_Comm_free_keyval(&own));
    OK(MPI_Comm_free_keyval(&never));
    OK(MPI_Comm_free_keyval(&shared));
    OK(MPI_Comm_free(&comm));
}

/* Those that were set last are deleted first. */
static void order(void) {
    MPI_Comm comm;
    int keyval[5];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 5; i++) keyval[i] = make();
    for (int i = 0; i < 5; i++) set(comm, keyval[4 - i], i);
    deletions = 0;
    OK(MPI_Comm_free(&comm));
    CHECK_EQ(deletions, 5);
    for (int i = 0; i < 5; i++) CHECK_EQ(deleted[i], 4 - i);
    for (int i = 0; i < 5; i++) OK(MPI_Comm_free_keyval(&keyval[i]));
}

/* A key that was freed is good for what is set under it. */
static void freed(void) {
    MPI_Comm first, second;
    int keyval = make(), number = keyval;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    set(first, keyval, 30);
    OK(MPI_Comm_free_keyval(&keyval));
    deletions = 0;
    CHECK_EQ(get(first, number), 30);
    OK(MPI_Comm_dup(first, &second));
    CHECK_EQ(get(second, number), 31);
    OK(MPI_Comm_delete_attr(first, number));
    CHECK_EQ(deletions, 1);
    OK(MPI_Comm_free(&second));
    CHECK_EQ(deletions, 2);
    CHECK_EQ(deleted[1], 31);
    void *value;
    int flag;
    ERR(MPI_Comm_get_attr(first, number, &value, &flag), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_free_keyval(&number), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free(&first));
}

static void types(void) {
    MPI_Datatype type, copy;
    int keyval, flag = 0, of_comm = make();
    void *value = NULL;
    OK(MPI_Type_create_keyval(copy_type, delete_type, &keyval, &state));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, keyval, (void *)40));
    OK(MPI_Type_dup(type, &copy));
    OK(MPI_Type_get_attr(copy, keyval, &value, &flag));
    CHECK(flag && value == (void *)41);
    deletions = 0;
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_delete_attr(type, keyval));
    CHECK_EQ(deletions, 2);
    CHECK_EQ(deleted[0], 41);
    CHECK_EQ(deleted[1], 40);
    OK(MPI_Type_get_attr(type, keyval, &value, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_set_attr(MPI_INT, keyval, &state));
    OK(MPI_Type_get_attr(MPI_INT, keyval, &value, &flag));
    CHECK(flag && value == &state);
    OK(MPI_Type_delete_attr(MPI_INT, keyval));
    ERR(MPI_Type_set_attr(MPI_INT, of_comm, NULL), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL), MPI_ERR_KEYVAL);
    ERR(MPI_Type_set_attr(MPI_DATATYPE_NULL, keyval, NULL), MPI_ERR_TYPE);
    ERR(MPI_Type_get_attr(MPI_INT, MPI_TAG_UB, &value, &flag), MPI_ERR_KEYVAL);
    OK(MPI_Type_free_keyval(&keyval));
    OK(MPI_Comm_free_keyval(&of_comm));
}

static void wrong(void) {
    void *value;
    int flag, keyval = MPI_KEYVAL_INVALID;
    ERR(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_get_attr(MPI_COMM_WORLD, 12345, &value, &flag), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_get_attr(MPI_COMM_NULL, MPI_TAG_UB, &value, &flag), MPI_ERR_COMM);
    ERR(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_set_attr(MPI_COMM_WORLD, -1, NULL), MPI_ERR_KEYVAL);
}

#ifdef MPI_NULL_COPY_FN
/* The calls under their former names. */
static void former(void) {
    int keyval, flag;
    void *value;
    OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Attr_put(MPI_COMM_WORLD, keyval, &state));
    OK(MPI_Attr_get(MPI_COMM_WORLD, keyval, &value, &flag));
    CHECK(flag && value == &state);
    OK(MPI_Attr_delete(MPI_COMM_WORLD, keyval));
    OK(MPI_Keyval_free(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
}
#else
static void former(void) {}
#endif

static int at_end(MPI_Comm comm, int keyval, void *value, void *extra) {
    int flag = -1;
    (void)keyval;
    (void)extra;
    CHECK(comm == MPI_COMM_SELF);
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    deleted[deletions++] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int first, second;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    values();
    copying();
    order();
    freed();
    types();
    wrong();
    former();
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &first, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &second, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, first, (void *)51));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, second, (void *)52));
    deletions = 0;
    OK(MPI_Finalize());
    CHECK_EQ(deletions, 2);
    CHECK_EQ(deleted[0], 52);
    CHECK_EQ(deleted[1], 51);
    return 0;
}
