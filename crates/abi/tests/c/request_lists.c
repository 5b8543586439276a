/* Lists of receives of every length, posted in an order that is not that of the messages, and
 * completed in every way. Each message must meet the receive that the order of posts and sends
 * names: of the receives with one source and tag, the first gets what that source sent first.
 *
 * ranks: 2 3 5
 */
#include "check.h"

#include <string.h>

enum { MOST = 200, TAGS = 5, ROUNDS = 60 };

/* A message carries its source, its tag and how many of this tag came before. */
typedef struct {
    int source, tag, nth;
} Content;

static unsigned state;

static int below(int most) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)most);
}

static int rank, size;

/* What a round is, which all ranks know: who sends to rank 0 with which tag, in which order. */
typedef struct {
    int count;
    struct {
        int source, tag;
    } message[MOST];
} Plan;

static Plan plan_of(int round) {
    static const int counts[] = {1, 2, 4, 5, 8, 9, 17, 63, 64, 65, 66, 130, MOST};
    Plan plan;
    state = 77u + (unsigned)round;
    plan.count = counts[below((int)(sizeof counts / sizeof *counts))];
    for (int each = 0; each < plan.count; each++) {
        plan.message[each].source = 1 + below(size - 1);
        plan.message[each].tag = below(TAGS);
    }
    return plan;
}

static void send_all(const Plan *plan, int delay) {
    int sent[TAGS] = {0};
    Content content[MOST];
    MPI_Request requests[MOST];
    int mine = 0;
    for (int each = 0; each < plan->count; each++) {
        if (plan->message[each].source != rank) continue;
        int tag = plan->message[each].tag;
        content[mine] = (Content){rank, tag, sent[tag]++};
        MPI_Isend(&content[mine], 3, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[mine]);
        mine++;
        if (delay && each == plan->count / 2) {
            double until = MPI_Wtime() + 0.0005;
            while (MPI_Wtime() < until) {}
        }
    }
    MPI_Waitall(mine, requests, MPI_STATUSES_IGNORE);
}

static void has(const Content *content, const MPI_Status *status, int source, int tag, int nth) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && count == 3);
    CHECK(content->source == source && content->tag == tag && content->nth == nth);
}

/* Completes all requests in one of the ways, and gives each its status. */
static void complete(int way, int count, MPI_Request *requests, MPI_Status *statuses) {
    static MPI_Status found[MOST];
    static int indices[MOST];
    int left = count, flag = 0;
    switch (way) {
    case 0: MPI_Waitall(count, requests, statuses); break;
    case 1:
        while (!flag) MPI_Testall(count, requests, &flag, statuses);
        break;
    case 2: /* one by one, in the order of the posts */
        for (int each = 0; each < count; each++) MPI_Wait(&requests[each], &statuses[each]);
        break;
    case 3: /* and against it */
        for (int each = count; each-- > 0;) MPI_Wait(&requests[each], &statuses[each]);
        break;
    case 4: /* the second half first */
        MPI_Waitall(count - count / 2, requests + count / 2, statuses + count / 2);
        MPI_Waitall(count / 2, requests, statuses);
        break;
    case 5:
        for (; left > 0; left--) {
            int at;
            MPI_Waitany(count, requests, &at, &found[0]);
            statuses[at] = found[0];
        }
        break;
    default:
        while (left > 0) {
            int some;
            MPI_Waitsome(count, requests, &some, indices, found);
            for (int each = 0; each < some; each++) statuses[indices[each]] = found[each];
            left -= some;
        }
    }
    for (int each = 0; each < count; each++) CHECK(requests[each] == MPI_REQUEST_NULL);
}

static void receive_all(const Plan *plan, int way, int is_late) {
    static Content content[MOST];
    static MPI_Status statuses[MOST];
    MPI_Request requests[MOST];
    int order[MOST], posted[MOST][TAGS];
    memset(posted, 0, sizeof posted);
    memset(content, 0, sizeof content);
    for (int each = 0; each < plan->count; each++) order[each] = each;
    for (int each = 0; each < plan->count; each++) { /* of the posts: shuffled a little, or much */
        int far = way % 2 ? plan->count : 6;
        int other = each + below(far < plan->count - each ? far : plan->count - each);
        int kept = order[each];
        order[each] = order[other];
        order[other] = kept;
    }
    if (is_late) {
        double until = MPI_Wtime() + 0.0005;
        while (MPI_Wtime() < until) {}
    }
    int nth[MOST];
    for (int each = 0; each < plan->count; each++) {
        int source = plan->message[order[each]].source, tag = plan->message[order[each]].tag;
        nth[each] = posted[source][tag]++;
        MPI_Irecv(&content[each], 3, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[each]);
    }
    complete(way, plan->count, requests, statuses);
    for (int each = 0; each < plan->count; each++) {
        int source = plan->message[order[each]].source, tag = plan->message[order[each]].tag;
        has(&content[each], &statuses[each], source, tag, nth[each]);
    }
}

/* One of many messages is too long: its place in the list says so, and all others arrive. */
static void one_is_too_long(int count, int bad) {
    int values[MOST][2];
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    if (rank == 1) {
        for (int each = 0; each < count; each++) {
            values[each][0] = values[each][1] = each;
            int items = each == bad ? 2 : 1;
            MPI_Isend(values[each], items, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[each]);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    if (rank != 0) return;
    for (int each = 0; each < count; each++) {
        values[each][0] = -1;
        MPI_Irecv(values[each], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[each]);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Waitall(count, requests, statuses) == MPI_ERR_IN_STATUS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int each = 0; each < count; each++) {
        int class = MPI_SUCCESS;
        MPI_Error_class(statuses[each].MPI_ERROR, &class);
        CHECK(class == (each == bad ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        CHECK(values[each][0] == (each == bad ? -1 : each));
    }
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        Plan plan = plan_of(round);
        int is_late = round % 3 == 1;
        if (rank == 0) receive_all(&plan, round % 7, is_late);
        else send_all(&plan, round % 3 == 2);
        if (round % 4 == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int count = 2; count <= 70; count += 17) one_is_too_long(count, count / 2);
    MPI_Finalize();
    return 0;
}
