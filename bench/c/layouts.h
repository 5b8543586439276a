/* Where the elements of the blocks of a call lie: blocks of one length, blocks of different lengths,
 * and blocks with gaps, which derived datatypes describe. */

enum { MAX_RANKS = 256 };

enum layout {
    EVEN,    /* blocks of the same length, one after the other */
    BY_RANK, /* the length of a block depends on the rank to which it belongs */
    BY_PAIR, /* it depends on the ranks that send and receive the block */
    STRIDED, /* pieces of 8 B, with gaps of 8 B between them: MPI_Type_vector */
    INDEXED, /* pieces of 8 B and 24 B in turns, and after each a gap as long: MPI_Type_indexed */
};
enum { PIECE = 2, LONG_PIECE = 6 }; /* elements */

/* Elements of a block; the mean if blocks differ. */
static int n;
/* Whether blocks BY_RANK and BY_PAIR have different lengths: a program that measures them with even
 * ones leaves it at 0. */
static int is_uneven = 0;

/* The arguments of calls with a length for each block. */
struct blocks {
    int counts[MAX_RANKS], places[MAX_RANKS], bytes[MAX_RANKS];
    MPI_Aint wide_bytes[MAX_RANKS];
};
static struct blocks even, by_rank, by_pair;
static MPI_Datatype types[MAX_RANKS];
static MPI_Datatype strided = MPI_DATATYPE_NULL, indexed = MPI_DATATYPE_NULL;

/* Blocks of odd number are three times as long as blocks of even number; of an odd number of blocks
 * the last one has the mean length. All blocks together are as long as even ones. */
static int uneven_count(int number) {
    if (!is_uneven || (size % 2 && number == size - 1)) return n;
    return number % 2 ? n + n / 2 : n - n / 2;
}

static int even_count(int number) {
    (void)number;
    return n;
}

/* The same for the sender and the receiver of a block. */
static int pair_count(int other) {
    return uneven_count((rank + other) % size);
}

static void set_blocks(struct blocks *blocks, int n_blocks, int (*count)(int)) {
    int place = 0;
    for (int j = 0; j < n_blocks; j++) {
        blocks->counts[j] = count(j);
        blocks->places[j] = place;
        blocks->bytes[j] = place * (int)sizeof(int);
        blocks->wide_bytes[j] = blocks->bytes[j];
        place += blocks->counts[j];
    }
}

/* The first element of the piece that has an element of a block with gaps. */
static int piece_start(enum layout layout, int element) {
    if (layout == STRIDED) return element - element % PIECE;
    int within = element % (PIECE + LONG_PIECE);
    return element - within + (within < PIECE ? 0 : PIECE);
}

static int has_gaps(enum layout layout) {
    return layout == STRIDED || layout == INDEXED;
}

/* Elements of a block of a type: `n`, as whole pieces if it is strided. */
static int gapped_count(enum layout layout) {
    return layout == STRIDED ? (n + PIECE - 1) / PIECE * PIECE : n;
}

/* Elements of one of the blocks that a rank sends or receives in a call. */
static int count_of(enum layout layout, int n_blocks, int block) {
    if (layout == BY_RANK) return by_rank.counts[n_blocks > 1 ? block : rank];
    return layout == BY_PAIR ? by_pair.counts[block] : gapped_count(layout);
}

/* Where the block begins. A block with gaps takes twice its length. */
static int start_of(enum layout layout, int n_blocks, int block) {
    if (layout == BY_RANK) return n_blocks > 1 ? by_rank.places[block] : 0;
    if (layout == BY_PAIR) return by_pair.places[block];
    return block * (has_gaps(layout) ? 2 * gapped_count(layout) : n);
}

/* Where an element lies in its block. */
static int place_of(enum layout layout, int element) {
    return has_gaps(layout) ? piece_start(layout, element) + element : element;
}

/* A type whose blocks follow one another at twice their length. */
static MPI_Datatype resized(MPI_Datatype type, enum layout layout) {
    MPI_Datatype made;
    MPI_Aint extent = (MPI_Aint)(2 * sizeof(int)) * gapped_count(layout);
    MPI_Type_create_resized(type, 0, extent, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&type);
    return made;
}

static void make_strided(void) {
    MPI_Datatype type;
    MPI_Type_vector(gapped_count(STRIDED) / PIECE, PIECE, 2 * PIECE, MPI_INT, &type);
    strided = resized(type, STRIDED);
}

static void make_indexed(void) {
    MPI_Datatype type;
    size_t max_pieces = (size_t)n / PIECE + 1;
    int *lengths = malloc(max_pieces * sizeof *lengths);
    int *starts = malloc(max_pieces * sizeof *starts);
    if (!lengths || !starts) fail("no memory", 0, 0, 0);
    int n_pieces = 0;
    for (int element = 0; element < n; element += lengths[n_pieces++]) {
        int length = n_pieces % 2 ? LONG_PIECE : PIECE;
        lengths[n_pieces] = length < n - element ? length : n - element;
        starts[n_pieces] = 2 * element;
    }
    MPI_Type_indexed(n_pieces, lengths, starts, MPI_INT, &type);
    indexed = resized(type, INDEXED);
    free(lengths);
    free(starts);
}

static void make_types(enum layout layout) {
    if (layout == STRIDED) make_strided();
    if (layout == INDEXED) make_indexed();
}

static void free_types(void) {
    if (strided != MPI_DATATYPE_NULL) MPI_Type_free(&strided);
    if (indexed != MPI_DATATYPE_NULL) MPI_Type_free(&indexed);
}
