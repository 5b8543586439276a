/* The interface for tools: control variables that can be read, and none of anything else.
 *
 * ranks: 0 2
 * set: MOTET_ALGORITHM=allreduce=ring
 */

#include "check.h"

static void variables(int number) {
    for (int n = 0; n < number; n++) {
        char name[128], meaning[512], small[4] = "xyz";
        int name_len = sizeof name, meaning_len = sizeof meaning, small_len = 3, index = -1;
        int verbosity, bind, scope, count = 0;
        MPI_Datatype type;
        MPI_T_enum values;
        OK(MPI_T_cvar_get_info(n, name, &name_len, &verbosity, &type, &values, meaning,
                               &meaning_len, &bind, &scope));
        CHECK_EQ(strlen(name) + 1, name_len);
        CHECK_EQ(strlen(meaning) + 1, meaning_len);
        CHECK(scope == MPI_T_SCOPE_READONLY && bind == MPI_T_BIND_NO_OBJECT);
        CHECK(type == MPI_CHAR && values == MPI_T_ENUM_NULL);
        OK(MPI_T_cvar_get_info(n, small, &small_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK_EQ(small_len, name_len);
        CHECK(small[0] == name[0] && small[1] == name[1] && small[2] == '\0');
        OK(MPI_T_cvar_get_index(name, &index));
        CHECK_EQ(index, n);
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        OK(MPI_T_cvar_handle_alloc(n, NULL, &handle, &count));
        CHECK(handle != MPI_T_CVAR_HANDLE_NULL && count > 0);
        char *value = malloc(count);
        OK(MPI_T_cvar_read(handle, value));
        CHECK_EQ(strlen(value) + 1, count);
        if (strcmp(name, "MOTET_ALGORITHM") == 0) CHECK_TEXT(value, "allreduce=ring");
        CHECK_EQ(MPI_T_cvar_write(handle, value), MPI_T_ERR_CVAR_SET_NEVER);
        free(value);
        MPI_T_cvar_handle stale = handle;
        OK(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
        CHECK_EQ(MPI_T_cvar_handle_free(&stale), MPI_T_ERR_INVALID_HANDLE);
        CHECK_EQ(MPI_T_cvar_read(stale, small), MPI_T_ERR_INVALID_HANDLE);
    }
    int count;
    MPI_T_cvar_handle handle;
    CHECK_EQ(MPI_T_cvar_handle_alloc(number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_index("nobody", &count), MPI_T_ERR_INVALID_NAME);
}

static void nothing_else(void) {
    int number = -1, value;
    OK(MPI_T_pvar_get_num(&number));
    CHECK_EQ(number, 0);
    OK(MPI_T_category_get_num(&number));
    CHECK_EQ(number, 0);
    OK(MPI_T_event_get_num(&number));
    CHECK_EQ(number, 0);
    OK(MPI_T_source_get_num(&number));
    CHECK_EQ(number, 0);
    OK(MPI_T_category_changed(&number));
    CHECK_EQ(MPI_T_category_get_cvars(0, 1, &value), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_index("none", &value), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &value, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL, stale;
    MPI_T_pvar_handle handle;
    OK(MPI_T_pvar_session_create(&session));
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &value), MPI_T_ERR_INVALID_INDEX);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    stale = session;
    OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    CHECK_EQ(MPI_T_pvar_session_free(&stale), MPI_T_ERR_INVALID_SESSION);
}

int main(int argc, char **argv) {
    int provided = -1, number = -1;
    CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_T_cvar_get_num(&number));
    CHECK(number > 5);
    variables(number);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    variables(number);
    nothing_else();
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    variables(number);
    OK(MPI_T_finalize());
    CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}
