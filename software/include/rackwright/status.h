/* How a unit's operation ended (contract 3 of the architecture). */
#ifndef RACKWRIGHT_STATUS_H
#define RACKWRIGHT_STATUS_H

/* The numbers are those of the hardware. */
typedef enum {
    RACKWRIGHT_OK = 0,           /* the whole input was consumed, the whole output written */
    RACKWRIGHT_MALFORMED = 1,    /* the input is not valid for the algorithm */
    RACKWRIGHT_OUTPUT_FULL = 2,  /* the destination is too small for the result */
    RACKWRIGHT_UNSUPPORTED = 3,  /* well-formed, but outside what the unit was built for */
    RACKWRIGHT_ACCESS_FAULT = 4, /* memory refused an access, or a buffer wraps around 2^64 */
} rackwright_status;

/* The name of a status as the command line prints it, for example "output_full". */
static inline const char *rackwright_status_name(rackwright_status status)
{
    switch (status) {
    case RACKWRIGHT_OK: return "ok";
    case RACKWRIGHT_MALFORMED: return "malformed";
    case RACKWRIGHT_OUTPUT_FULL: return "output_full";
    case RACKWRIGHT_UNSUPPORTED: return "unsupported";
    case RACKWRIGHT_ACCESS_FAULT: return "access_fault";
    }
    return "unknown";
}

#endif
