/* The binary interface itself: its version, its facts, what it says of Fortran, and handles as
 * integers.
 *
 * ranks: 0 1
 */

#include "check.h"

static void number_is(MPI_Info info, const char *key, int expected) {
    char value[32];
    int flag = 0, len = sizeof value;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(atoi(value), expected);
}

static void facts(void) {
    int major = 0, minor = -1, size;
    MPI_Info info = MPI_INFO_NULL;
    OK(MPI_Abi_get_version(&major, &minor));
    CHECK_EQ(major, 1);
    CHECK_EQ(minor, 0);
    OK(MPI_Abi_get_info(&info));
    number_is(info, "mpi_aint_size", sizeof(MPI_Aint));
    number_is(info, "mpi_count_size", sizeof(MPI_Count));
    number_is(info, "mpi_offset_size", sizeof(MPI_Offset));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    if (check_rank() >= 0) {
        OK(MPI_Type_size(MPI_INTEGER, &size));
        number_is(info, "mpi_integer_size", size);
        OK(MPI_Type_size(MPI_DOUBLE_PRECISION, &size));
        number_is(info, "mpi_double_precision_size", size);
    }
    /* What it says can be said to it. */
    OK(MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
}

static void booleans(void) {
    int yes = -1, no = -1, is_set = -1;
    OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
    CHECK(!is_set || (yes == 1 && no == 0));
    OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
}

static void wrong(void) {
    MPI_Info info;
    long long yes = -1, no = 0;
    int is_set;
    ERR(MPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_ERR_ABI);
    ERR(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set), MPI_ERR_ARG);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_integer_size", "8"));
    ERR(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    OK(MPI_Info_free(&info));
    ERR(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_INFO);
}

#define THERE_AND_BACK(kind, handle) CHECK(kind##_fromint(kind##_toint(handle)) == (handle))

static void integers(void) {
    MPI_Info info;
    MPI_Comm comm;
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), (intptr_t)MPI_COMM_WORLD);
    THERE_AND_BACK(MPI_Comm, MPI_COMM_WORLD);
    THERE_AND_BACK(MPI_Comm, MPI_COMM_NULL);
    THERE_AND_BACK(MPI_Type, MPI_DOUBLE);
    THERE_AND_BACK(MPI_Op, MPI_SUM);
    THERE_AND_BACK(MPI_Group, MPI_GROUP_EMPTY);
    THERE_AND_BACK(MPI_Request, MPI_REQUEST_NULL);
    THERE_AND_BACK(MPI_Message, MPI_MESSAGE_NO_PROC);
    THERE_AND_BACK(MPI_Errhandler, MPI_ERRORS_RETURN);
    THERE_AND_BACK(MPI_Session, MPI_SESSION_NULL);
    THERE_AND_BACK(MPI_Win, MPI_WIN_NULL);
    THERE_AND_BACK(MPI_File, MPI_FILE_NULL);
    OK(MPI_Info_create(&info));
    THERE_AND_BACK(MPI_Info, info);
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    THERE_AND_BACK(MPI_Comm, comm);
    MPI_Comm again = MPI_Comm_fromint(MPI_Comm_toint(comm));
    int size = 0;
    OK(MPI_Comm_size(again, &size));
    CHECK_EQ(size, 1);
    OK(MPI_Comm_free(&comm));
    ERR(MPI_Comm_size(MPI_Comm_fromint(123456789), &size), MPI_ERR_COMM);
    ERR(MPI_Comm_size(MPI_Comm_fromint(-5), &size), MPI_ERR_COMM);
}

int main(int argc, char **argv) {
    facts();
    booleans();
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    facts();
    booleans();
    wrong();
    integers();
    OK(MPI_Finalize());
    facts();
    return 0;
}
