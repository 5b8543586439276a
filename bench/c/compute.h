/* A computation in registers, each step of which needs the one before: its time depends on the
 * processor alone. */

/* The compiler does not know these values, so it cannot compute the result in advance. */
static volatile double compute_seed = 0.5;
static volatile double compute_result;

static void compute(long steps) {
    double x = compute_seed;
    for (long i = 0; i < steps; i++) x = x * 0.999999 + 0.000001;
    compute_result = x;
}
