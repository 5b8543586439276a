/* Hints: keys and values, their limits, and the old calls.
 *
 * ranks: 0 2
 */

#include "check.h"

static void values(void) {
    MPI_Info info, copy;
    char value[32], key[MPI_MAX_INFO_KEY];
    int flag = -1, len, number;
    OK(MPI_Info_create(&info));
    CHECK(info != MPI_INFO_NULL);
    OK(MPI_Info_get_nkeys(info, &number));
    CHECK_EQ(number, 0);
    OK(MPI_Info_set(info, "first", "one"));
    OK(MPI_Info_set(info, "second", "two"));
    OK(MPI_Info_set(info, "first", "eleven"));
    OK(MPI_Info_get_nkeys(info, &number));
    CHECK_EQ(number, 2);
    OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK_TEXT(key, "first");
    OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK_TEXT(key, "second");
    len = sizeof value;
    OK(MPI_Info_get_string(info, "first", &len, value, &flag));
    CHECK(flag);
    CHECK_TEXT(value, "eleven");
    CHECK_EQ(len, 7);
    /* Not enough room: as much as fits, and how much it needs. */
    memset(value, 'x', sizeof value);
    len = 4;
    OK(MPI_Info_get_string(info, "first", &len, value, &flag));
    CHECK_TEXT(value, "ele");
    CHECK_EQ(value[4], 'x');
    CHECK_EQ(len, 7);
    len = 0;
    OK(MPI_Info_get_string(info, "first", &len, NULL, &flag));
    CHECK_EQ(len, 7);
    len = 5;
    OK(MPI_Info_get_string(info, "third", &len, value, &flag));
    CHECK_EQ(flag, 0);
    CHECK_EQ(len, 5);
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "first"));
    OK(MPI_Info_get_nkeys(info, &number));
    CHECK_EQ(number, 1);
    OK(MPI_Info_get_nkeys(copy, &number));
    CHECK_EQ(number, 2);
    OK(MPI_Info_free(&copy));
    CHECK(copy == MPI_INFO_NULL);
    OK(MPI_Info_free(&info));
}

static void former(void) {
    MPI_Info info;
    char value[32];
    int flag = -1, len;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "a value"));
    OK(MPI_Info_get_valuelen(info, "key", &len, &flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(len, 7);
    OK(MPI_Info_get(info, "key", 31, value, &flag));
    CHECK_TEXT(value, "a value");
    memset(value, 'x', sizeof value);
    OK(MPI_Info_get(info, "key", 3, value, &flag));
    CHECK_TEXT(value, "a v");
    OK(MPI_Info_get(info, "none", 3, value, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Info_free(&info));
}

static void wrong(void) {
    MPI_Info info, null = MPI_INFO_NULL, stale;
    static char longest[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int number, flag, len = 10;
    char text[10];
    memset(longest, 'k', MPI_MAX_INFO_KEY);
    memset(value, 'v', MPI_MAX_INFO_VAL);
    OK(MPI_Info_create(&info));
    ERR(MPI_Info_set(info, longest, "value"), MPI_ERR_INFO_KEY);
    ERR(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
    ERR(MPI_Info_set(info, "key", value), MPI_ERR_INFO_VALUE);
    longest[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = '\0';
    OK(MPI_Info_set(info, longest, value));
    ERR(MPI_Info_delete(info, "key"), MPI_ERR_INFO_NOKEY);
    ERR(MPI_Info_get_nthkey(info, 1, text), MPI_ERR_ARG);
    ERR(MPI_Info_get_nthkey(info, -1, text), MPI_ERR_ARG);
    ERR(MPI_Info_set(null, "key", "value"), MPI_ERR_INFO);
    ERR(MPI_Info_delete(null, "key"), MPI_ERR_INFO);
    ERR(MPI_Info_get_nkeys(null, &number), MPI_ERR_INFO);
    ERR(MPI_Info_get_nthkey(null, 0, text), MPI_ERR_INFO);
    ERR(MPI_Info_get_string(null, "key", &len, text, &flag), MPI_ERR_INFO);
    ERR(MPI_Info_dup(null, &stale), MPI_ERR_INFO);
    ERR(MPI_Info_free(&null), MPI_ERR_INFO);
    stale = info;
    OK(MPI_Info_free(&info));
    ERR(MPI_Info_free(&stale), MPI_ERR_INFO);
    ERR(MPI_Info_get_nkeys(stale, &number), MPI_ERR_INFO);
}

static void environment(int argc, char **argv) {
    MPI_Info info, env = MPI_INFO_ENV;
    char value[MPI_MAX_INFO_VAL];
    int flag = 0, len = sizeof value;
    OK(MPI_Info_get_string(MPI_INFO_ENV, "command", &len, value, &flag));
    CHECK(flag && strstr(value, "info") != NULL);
    OK(MPI_Info_get_string(MPI_INFO_ENV, "key", &len, value, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Info_create_env(argc, argv, &info));
    len = sizeof value;
    OK(MPI_Info_get_string(info, "command", &len, value, &flag));
    CHECK(flag);
    CHECK_TEXT(value, argv[0]);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_create_env(0, NULL, &info));
    OK(MPI_Info_free(&info));
    if (check_rank() < 0) return;
    ERR(MPI_Info_set(MPI_INFO_ENV, "key", "value"), MPI_ERR_INFO);
    ERR(MPI_Info_free(&env), MPI_ERR_INFO);
}

int main(int argc, char **argv) {
    values();
    environment(argc, argv);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    values();
    former();
    wrong();
    environment(argc, argv);
    OK(MPI_Finalize());
    values();
    return 0;
}
