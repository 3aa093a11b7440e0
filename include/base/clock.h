#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Clocks in milliseconds. Timeouts and TTLs use the monotonic clock, times
 * that are kept on disk or compared with a server's use the wall clock.
 * CLOCK_BOOTTIME goes on in suspend and is compared between processes of one
 * boot.
 */
uint64_t clock_monotonic_ms(void);
uint64_t clock_monotonic_us(void);
uint64_t clock_boottime_ms(void);
uint64_t clock_wall_ms(void);

/* Tests only: moves all clocks forward. Any thread. */
void clock_advance_ms(uint64_t ms);

/*
 * The boot id of this machine as 36 characters and a NUL. It is read from
 * /proc once; SHARDFS_BOOT_ID in the environment replaces it in tests.
 */
const char *clock_boot_id(void);

/* RFC 1123 date ("Sun, 06 Nov 1994 08:49:37 GMT"), the length of buffer at
 * least 30. */
void clock_format_http(int64_t seconds, char *buffer, size_t size);

/* "2026-01-31T12:34:56.789Z" (fraction and offset optional) to seconds since
 * the epoch. -EINVAL for anything else. */
int clock_parse_iso8601(const char *text, int64_t *out_seconds);

/* RFC 1123, RFC 850 and asctime dates. -EINVAL for anything else. */
int clock_parse_http(const char *text, int64_t *out_seconds);

#endif
