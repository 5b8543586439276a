/* What Motet has in C and the standard has not.
 *
 * Made from crates/abi/tables/extensions.tsv like mpi.h. A program that uses it runs with Motet
 * only.
 */

#ifndef MOTET_MPIX_H
#define MOTET_MPIX_H

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions. */

/* The same for tools that have the names above. */

#ifdef __cplusplus
}
#endif

#endif /* MOTET_MPIX_H */
