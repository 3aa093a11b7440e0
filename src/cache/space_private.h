#ifndef CACHE_SPACE_PRIVATE_H
#define CACHE_SPACE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

struct index_totals;

/*
 * The arithmetic of the limit: pure functions over facts. What counts is what
 * the disk gives, not what the objects have: blocks rounded up to 4 KiB, space
 * granted and not yet filled, directories, the index with its log, and 1 % for
 * what a file system keeps beside the bytes.
 */

#define SPACE_LEAST_LIMIT (UINT64_C(16) << 20)

/* All that counts against the limit now. */
uint64_t space_used_bytes(const struct index_totals *totals);
/* What may still be granted: 0 when the limit is reached. */
uint64_t space_free_bytes(const struct index_totals *totals);
/* How large the database may grow, and all listings in it. */
uint64_t space_index_max_bytes(uint64_t limit_bytes);
uint64_t space_listings_max_bytes(uint64_t limit_bytes);
/* What a process takes at once while there is room. */
uint64_t space_grant_bytes(uint64_t limit_bytes);

/* The limit of a directory for which none was given. */
struct space_default {
	uint64_t available_bytes; /* For an ordinary user. */
	bool on_root;
};
uint64_t space_default_limit(const struct space_default *facts);

/* What the file system has, as an ordinary user sees it. */
struct space_disk {
	uint64_t available_bytes, size_bytes;
	uint64_t available_files, file_count; /* 0: it does not say. */
};
int space_look(int fd, struct space_disk *out_disk);

struct space_floor {
	uint64_t min_free_bytes;
	unsigned min_free_percent;
};
/* How many more bytes may be written before the floor is reached. */
uint64_t space_above_floor(
		const struct space_disk *disk, const struct space_floor *floor);
/* Whether one more file may be made. */
bool space_has_files(
		const struct space_disk *disk, const struct space_floor *floor);

#endif
