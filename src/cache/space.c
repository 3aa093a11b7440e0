#include "cache/space_private.h"

#include <errno.h>
#include <sys/statvfs.h>

#include "cache/index_private.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

/* The write-ahead log, twice its usual bound, and its shared memory. */
#define LOG_RESERVE_BYTES (576 * KIB)
/* A database grows between two grants by less than this. */
#define PAGE_RESERVE_BYTES (64 * KIB)
#define DIRECTORY_BYTES (4 * KIB)
#define DIRECTORY_COUNT 256u
#define FILE_BYTES 256u
#define SLACK_PERCENT 1u
#define GRANT_MAX_BYTES (64 * MIB)
#define ROOT_LIMIT_MAX (100 * GIB)
#define LEAST_FREE_FILES 16u

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t percent_of(uint64_t bytes, unsigned percent)
{
	return bytes / 100 * percent + bytes % 100 * percent / 100;
}

uint64_t space_used_bytes(const struct index_totals *totals)
{
	uint64_t directories = least(totals->object_count, DIRECTORY_COUNT) *
			       DIRECTORY_BYTES;
	return totals->block_bytes + totals->granted_bytes +
	       totals->object_count * FILE_BYTES + directories +
	       totals->page_bytes + PAGE_RESERVE_BYTES +
	       largest(totals->log_bytes, LOG_RESERVE_BYTES);
}

uint64_t space_free_bytes(const struct index_totals *totals)
{
	uint64_t limit = totals->limit_bytes -
			 percent_of(totals->limit_bytes, SLACK_PERCENT);
	uint64_t used = space_used_bytes(totals);
	return used < limit ? limit - used : 0;
}

uint64_t space_index_max_bytes(uint64_t limit_bytes)
{
	return limit_bytes / 4;
}

uint64_t space_listings_max_bytes(uint64_t limit_bytes)
{
	return limit_bytes / 16;
}

uint64_t space_grant_bytes(uint64_t limit_bytes)
{
	return least(GRANT_MAX_BYTES, limit_bytes / 64);
}

uint64_t space_default_limit(const struct space_default *facts)
{
	uint64_t limit = percent_of(
			facts->available_bytes, facts->on_root ? 25 : 80);
	if (facts->on_root) {
		limit = least(limit, ROOT_LIMIT_MAX);
	}
	return largest(limit, SPACE_LEAST_LIMIT);
}

int space_look(int fd, struct space_disk *out_disk)
{
	struct statvfs status;
	if (fstatvfs(fd, &status) != 0) {
		return -errno;
	}
	*out_disk = (struct space_disk){
			.available_bytes = (uint64_t)status.f_bavail *
					   status.f_frsize,
			.size_bytes = (uint64_t)status.f_blocks *
				      status.f_frsize,
			.available_files = status.f_favail,
			.file_count = status.f_files,
	};
	return 0;
}

uint64_t space_above_floor(
		const struct space_disk *disk, const struct space_floor *floor)
{
	uint64_t keep = largest(floor->min_free_bytes,
			percent_of(disk->size_bytes, floor->min_free_percent));
	return disk->available_bytes > keep ? disk->available_bytes - keep : 0;
}

bool space_has_files(
		const struct space_disk *disk, const struct space_floor *floor)
{
	if (disk->file_count == 0) {
		return true;
	}
	uint64_t keep = largest(LEAST_FREE_FILES,
			percent_of(disk->file_count, floor->min_free_percent));
	return disk->available_files > keep;
}
