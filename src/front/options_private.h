#ifndef FRONT_OPTIONS_PRIVATE_H
#define FRONT_OPTIONS_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* The text behind -o for libfuse: pure. Commas and backslashes of the source
 * are escaped, so that the mount table shows it letter for letter. The caller
 * frees; NULL without memory. */
char *options_text(const char *source, uint64_t max_read, bool allow_other);

#endif
