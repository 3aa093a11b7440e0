#include "cache/disk_tier.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cache/disk_private.h"

#define LOG_MODULE "cache"

/* Data files open at once. Each may take two descriptors, and connections and
 * the kernel's requests need theirs more: a read that finds none for its data
 * file is served by the store. */
#define MAX_FILES 256u
#define LEAST_FILES 4u
#define DESCRIPTORS_PER_FILE 8u

static size_t default_max_files(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		return MAX_FILES;
	}
	rlim_t count = limit.rlim_cur / DESCRIPTORS_PER_FILE;
	if (count > MAX_FILES) {
		return MAX_FILES;
	}
	return count < LEAST_FILES ? LEAST_FILES : (size_t)count;
}

static int create_tier(const struct disk_tier_settings *settings,
		struct disk_tier **out_tier)
{
	struct disk_tier *tier = calloc(1, sizeof(*tier));
	if (tier == NULL) {
		return -ENOMEM;
	}
	tier->counters = settings->counters;
	tier->verify = settings->verify;
	tier->floor = (struct space_floor){
			.min_free_bytes = settings->min_free_bytes,
			.min_free_percent = settings->min_free_percent,
	};
	tier->dir = DISK_DIR_INIT;
	tier->holder_fd = -1;
	size_t max_files = settings->max_open_files != 0
					   ? settings->max_open_files
					   : default_max_files();
	int error = disk_files_init(&tier->files, max_files);
	if (error != 0) {
		free(tier);
		return error;
	}
	error = disk_pending_init(&tier->pending);
	if (error == 0) {
		error = -pthread_mutex_init(&tier->reader_lock, NULL);
	}
	if (error == 0) {
		error = -pthread_mutex_init(&tier->objects_lock, NULL);
	}
	if (error != 0) { /* Locks only fail for want of memory. */
		free(tier);
		return -ENOMEM;
	}
	*out_tier = tier;
	return 0;
}

static void destroy_tier(struct disk_tier *tier)
{
	index_close(tier->reader);
	index_close(tier->writer);
	if (tier->holder_fd >= 0) {
		(void)close(tier->holder_fd); /* It is empty. */
	}
	disk_dir_finish(&tier->dir);
	disk_files_finish(&tier->files);
	disk_pending_finish(&tier->pending);
	(void)pthread_mutex_destroy(&tier->reader_lock);  /* No thread is */
	(void)pthread_mutex_destroy(&tier->objects_lock); /* left. */
	free(tier->victims);
	free(tier);
}

/* The clock first, since nothing is evicted that was used after it. */
static int start_clock(struct disk_tier *tier)
{
	struct index_totals totals;
	int error = index_get_totals(tier->writer, &totals);
	if (error == 0) {
		atomic_store(&tier->clock, totals.clock_bytes);
	}
	return error;
}

/* Last: what evicts needs room in an index that may be too large. */
static int bound_index(struct disk_tier *tier)
{
	struct index_totals totals;
	int error = index_get_totals(tier->writer, &totals);
	return error != 0 ? error
			  : index_set_max_bytes(tier->writer,
					    space_index_max_bytes(
							    totals.limit_bytes));
}

/* The space of those who died, and the limit, before anything is served. */
static int settle(struct disk_tier *tier)
{
	int error = start_clock(tier);
	if (error == 0) {
		error = disk_reconcile_holders(tier);
	}
	if (error == 0) {
		error = disk_grant_enforce(tier);
	}
	if (error == -ENOENT || error == -EBUSY) {
		/* What others use stays; they meet the limit when they write.
		 */
		log_info("the cache is over its limit for now: dir=%s",
				tier->dir.path);
		error = 0;
	}
	return error == 0 ? bound_index(tier) : error;
}

static int open_parts(struct disk_tier *tier,
		const struct disk_tier_settings *settings, char *message,
		size_t message_size)
{
	int error = disk_open_directory(tier, settings, message, message_size);
	if (error == 0) {
		error = disk_open_index(tier, settings->limit_bytes, message,
				message_size);
	}
	if (error != 0) {
		return error;
	}
	error = disk_open_holder(tier);
	if (error == 0) {
		error = disk_dir_share(&tier->dir);
	}
	if (error == 0) {
		error = settle(tier);
	}
	if (error == 0) {
		error = disk_thread_start(tier);
	}
	if (error != 0) {
		char text[128];
		(void)snprintf(message, message_size,
				"%s: cannot use the cache: %s", tier->dir.path,
				strerror_r(-error, text, sizeof(text)));
	}
	return error;
}

int disk_tier_open(const struct disk_tier_settings *settings,
		struct disk_tier **out_tier, char *message, size_t message_size)
{
	if (settings->limit_bytes != 0 &&
			settings->limit_bytes < SPACE_LEAST_LIMIT) {
		(void)snprintf(message, message_size,
				"cache_size: %llu bytes are too few; the least"
				" is 16M",
				(unsigned long long)settings->limit_bytes);
		return -EINVAL;
	}
	struct disk_tier *tier = NULL;
	int error = create_tier(settings, &tier);
	if (error != 0) {
		(void)snprintf(message, message_size, "cache: no memory");
		return error;
	}
	error = open_parts(tier, settings, message, message_size);
	if (error != 0) {
		destroy_tier(tier);
		return error;
	}
	*out_tier = tier;
	return 0;
}

static void run_retire_all(struct disk_tier *tier)
{
	(void)disk_merge_all(tier); /* What is lost is fetched again. */
	disk_merge_retire(tier);
	while (tier->objects != NULL) { /* Those with rows that would not go. */
		struct disk_object *object = tier->objects;
		HASH_DELETE(hh, tier->objects, object);
		disk_files_close(object);
		disk_object_destroy(object);
		tier->leaked = true;
	}
}

/* Without loss the holder ends here; else the next user settles it. */
static void end_holder(struct disk_tier *tier)
{
	if (tier->leaked || disk_tier_is_off(tier)) {
		return;
	}
	int error = index_begin(tier->writer);
	if (error == 0) {
		error = index_remove_holder(tier->writer, tier->holder);
		if (error == 0) {
			error = index_commit(tier->writer);
		}
		if (error != 0) {
			index_rollback(tier->writer);
		}
	}
	if (error == 0) {
		disk_dir_remove_holder(&tier->dir, tier->holder);
	}
}

void disk_tier_close(struct disk_tier *tier)
{
	if (tier == NULL) {
		return;
	}
	disk_thread_stop(tier);
	run_retire_all(tier);
	end_holder(tier);
	destroy_tier(tier);
}

const char *disk_tier_dir(const struct disk_tier *tier)
{
	return tier->dir.path;
}

void disk_tier_usage(struct disk_tier *tier, struct disk_usage *out_usage)
{
	struct index_totals totals;
	int error;
	{
		LOCK_SCOPE(&tier->reader_lock);
		error = index_get_totals(tier->reader, &totals);
	}
	if (error == 0) {
		totals.log_bytes = disk_dir_log_bytes(&tier->dir);
		uint64_t used = space_used_bytes(&totals);
		uint64_t idle = atomic_load(&tier->remaining);
		atomic_store(&tier->limit_bytes, totals.limit_bytes);
		atomic_store(&tier->used_bytes, used > idle ? used - idle : 0);
	}
	out_usage->limit_bytes = atomic_load(&tier->limit_bytes);
	out_usage->used_bytes = atomic_load(&tier->used_bytes);
}

struct flush_task {
	struct disk_task task;
	int result;
};

static void run_flush(struct disk_tier *tier, struct disk_task *task)
{
	struct flush_task *flush = (struct flush_task *)task;
	flush->result = disk_merge_all(tier);
	disk_merge_retire(tier);
}

int disk_tier_flush(struct disk_tier *tier)
{
	struct flush_task flush = {.task.run = run_flush};
	disk_thread_call(tier, &flush.task);
	return flush.result == 0 ? 0 : -EIO;
}
