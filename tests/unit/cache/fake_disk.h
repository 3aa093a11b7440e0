#ifndef TESTS_CACHE_FAKE_DISK_H
#define TESTS_CACHE_FAKE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stands in for the disk tier: keeps blocks of one object in memory, also
 * while it is closed.
 */
struct disk_tier;

struct disk_tier *fake_disk_reset(void);

/* Puts blocks there, with the bytes of fake_fetch_byte. */
void fake_disk_put(uint64_t first, size_t count);
/* Reads of it fail, and it is then no longer there. */
void fake_disk_damage(uint64_t block);
void fake_disk_fail_writes(int error);
/* Writes wait until fake_disk_release. */
void fake_disk_hold(void);
void fake_disk_release(void);
/* Waits until a write is held; false after 5 s. */
bool fake_disk_wait_held(void);

/* Waits until so many blocks were written; false after 5 s. */
bool fake_disk_wait_written(size_t blocks);
size_t fake_disk_written(void);
/* Calls of disk_object_write and disk_object_read. */
size_t fake_disk_writes(void);
size_t fake_disk_reads(void);
size_t fake_disk_opens(void);
/* Waits until none is open; false after 5 s. */
bool fake_disk_wait_closed(void);

#endif
