#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * "8M", "1.5G", "64KiB", "100GB", "4096": powers of 1024 for K, M, G, T, P in
 * either case, with optional "B" or "iB". -EINVAL for anything else, -ERANGE
 * beyond 2^63 - 1.
 */
int size_parse(const char *text, uint64_t *out_bytes);

/* "41G", "1.5M", "12K", "999": at most three digits and a letter. */
void size_format(uint64_t bytes, char *buffer, size_t size);

/*
 * "60", "60s", "5m", "1h", "7d", "100ms"; a bare number is seconds.
 * "forever" gives UINT64_MAX. -EINVAL, -ERANGE as above.
 */
int duration_parse_ms(const char *text, uint64_t *out_ms);
#define DURATION_FOREVER UINT64_MAX

#endif
