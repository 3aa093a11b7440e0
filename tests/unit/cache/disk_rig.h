#ifndef TESTS_UNIT_CACHE_DISK_RIG_H
#define TESTS_UNIT_CACHE_DISK_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/block_pool.h"
#include "base/counters.h"
#include "cache/disk_tier.h"

/*
 * What tests of the disk tier share: a directory of their own, objects whose
 * bytes can be told from their key and offset, and a tier.
 */
struct disk_rig {
	char dir[128];
	struct counters counters;
	struct disk_tier_settings settings;
	struct disk_tier *tier;
	char message[512];
};

#define RIG_MIB ((uint64_t)1 << 20)
#define RIG_LIMIT (32 * RIG_MIB)

/* In memory, for speed; removed by rig_finish. */
void disk_rig_init(struct disk_rig *rig);
void disk_rig_init_at(struct disk_rig *rig, const char *parent);
void disk_rig_finish(struct disk_rig *rig);
int disk_rig_open(struct disk_rig *rig);
void disk_rig_close(struct disk_rig *rig);

/* An object of this key and size, open in the rig's tier. NULL: it failed. */
struct disk_object *disk_rig_object(
		struct disk_rig *rig, const char *key, uint64_t size);
struct disk_object *disk_rig_version(struct disk_rig *rig, const char *source,
		const char *key, const char *etag, uint64_t size);

/* Writes or reads blocks with the bytes that belong there. The read returns 0
 * only if they came back right; -EBADMSG: wrong bytes were called good. */
int disk_rig_write(struct disk_object *object, const char *key, uint64_t size,
		uint64_t first, size_t count);
int disk_rig_read(struct disk_object *object, const char *key, uint64_t size,
		uint64_t first, size_t count);
/* All blocks that are said to be here, one by one: how many were right, or
 * -EBADMSG. */
long disk_rig_check(struct disk_object *object, const char *key, uint64_t size);

/* Bytes that the file system gives to all of the directory. */
uint64_t disk_rig_du(const char *dir);
/* Whether that is more than `limit`. While others write, one walk may count
 * the same space twice, before it is freed and after it was used again: only
 * what several walks say in a row is believed. */
bool disk_rig_is_over(const char *dir, uint64_t limit);
/* The first data file, or how many there are. */
bool disk_rig_data_file(const struct disk_rig *rig, char *out, size_t size);
size_t disk_rig_file_count(const struct disk_rig *rig);
bool disk_rig_exists(const struct disk_rig *rig, const char *name_prefix);
/* Runs SQL on the index from a connection of its own; 0 or SQLite's error. */
int disk_rig_sql(const struct disk_rig *rig, const char *sql);
int64_t disk_rig_sql_number(const struct disk_rig *rig, const char *sql);

#endif
