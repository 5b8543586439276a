/* Versions, thread levels, clocks, names, memory, and addresses.
 *
 * ranks: 0 1 3
 */

#include "check.h"

#include <pthread.h>
#include <unistd.h>

static void before(void) {
    int flag = -1, version = 0, subversion = 0, len = 0, class = -1;
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Get_version(&version, &subversion));
    CHECK_EQ(version, 5);
    CHECK_EQ(subversion, 0);
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_Get_library_version(text, &len));
    CHECK(len > 5);
    CHECK_EQ(strlen(text), len);
    OK(MPI_Error_class(MPI_ERR_TRUNCATE, &class));
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
}

static void *other_thread(void *unused) {
    int flag = 1;
    OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 0);
    return unused;
}

static void threads(int provided) {
    int flag = 0, level = -1;
    CHECK_EQ(provided, MPI_THREAD_FUNNELED);
    OK(MPI_Query_thread(&level));
    CHECK_EQ(level, MPI_THREAD_FUNNELED);
    OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 1);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void clocks(void) {
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 0.01);
    double begin = MPI_Wtime();
    usleep(20000);
    double passed = MPI_Wtime() - begin;
    CHECK(passed >= 0.019 && passed < 30);
}

static void names(void) {
    char name[MPI_MAX_PROCESSOR_NAME], host[MPI_MAX_PROCESSOR_NAME];
    int len = -1;
    OK(MPI_Get_processor_name(name, &len));
    CHECK_EQ(strlen(name), len);
    CHECK_EQ(gethostname(host, sizeof host), 0);
    CHECK_TEXT(name, host);
    ERR(MPI_Get_processor_name(NULL, &len), MPI_ERR_ARG);
}

static void memory(void) {
    char *first = NULL, *second = NULL;
    OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &first));
    OK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &second));
    memset(second, 7, 100000);
    OK(MPI_Free_mem(first));
    OK(MPI_Free_mem(second));
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    OK(MPI_Alloc_mem(10, info, &first));
    CHECK_EQ((uintptr_t)first % 4096, 0);
    OK(MPI_Free_mem(first));
    OK(MPI_Info_free(&info));
}

static void wrong_memory(void) {
    char *address = NULL;
    int local = 0;
    ERR(MPI_Alloc_mem(-1, MPI_INFO_NULL, &address), MPI_ERR_ARG);
    ERR(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    ERR(MPI_Alloc_mem(PTRDIFF_MAX, MPI_INFO_NULL, &address), MPI_ERR_NO_MEM);
    ERR(MPI_Free_mem(&local), MPI_ERR_BASE);
    OK(MPI_Alloc_mem(8, MPI_INFO_NULL, &address));
    ERR(MPI_Free_mem(address + 1), MPI_ERR_BASE);
    OK(MPI_Free_mem(address));
    ERR(MPI_Free_mem(address), MPI_ERR_BASE);
}

static void addresses(void) {
    int array[4];
    MPI_Aint first = 0, last = 0;
    OK(MPI_Get_address(&array[0], &first));
    OK(MPI_Get_address(&array[3], &last));
    CHECK_EQ(MPI_Aint_diff(last, first), 3 * sizeof(int));
    CHECK_EQ(MPI_Aint_add(first, 3 * sizeof(int)), last);
    OK(MPI_Get_address(MPI_BOTTOM, &first));
    CHECK_EQ(first, 0);
}

static void predefined(void) {
    int *value = NULL, flag = 0, size = 0;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    OK(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
    CHECK(flag && *value == MPI_PROC_NULL);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    CHECK(flag && *value == MPI_ANY_SOURCE);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    MPI_Comm node;
    int on_node = 0;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &on_node));
    OK(MPI_Comm_free(&node));
    CHECK(flag && *value == (on_node == size)); // hosts have clocks of their own
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    CHECK(!flag || *value == 0);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value >= size);
    ERR(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, value), MPI_ERR_KEYVAL);
    ERR(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
    int keyval = MPI_TAG_UB;
    ERR(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
}

int main(int argc, char **argv) {
    int provided = -1, flag = 0;
    before();
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 1);
    threads(provided);
    clocks();
    names();
    memory();
    wrong_memory();
    addresses();
    predefined();
    OK(MPI_Pcontrol(1));
    OK(MPI_Pcontrol(2, "more"));
    MPI_Info info = MPI_INFO_NULL;
    OK(MPI_Get_hw_resource_info(&info));
    CHECK(info != MPI_INFO_NULL);
    OK(MPI_Info_free(&info));
    OK(MPI_Finalize());
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 1);
    return 0;
}
