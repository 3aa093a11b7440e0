#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cache/disk_private.h"

/* A listing on its way to the index: copies of what the caller has. */
struct listing_task {
	struct disk_task task;
	char *source, *prefix;
	bool is_removal;
	void *blob;
	size_t length;
	uint64_t taken_ms;
};

static void free_listing(struct listing_task *listing)
{
	free(listing->source);
	free(listing->prefix);
	free(listing->blob);
	free(listing);
}

static int change_listing(
		struct disk_tier *tier, const struct listing_task *listing)
{
	if (listing->is_removal) {
		return index_remove_listing(
				tier->writer, listing->source, listing->prefix);
	}
	struct index_totals totals;
	int error = index_get_totals(tier->writer, &totals);
	if (error != 0) {
		return error;
	}
	return index_put_listing(tier->writer, listing->source, listing->prefix,
			listing->blob, listing->length, listing->taken_ms,
			space_listings_max_bytes(totals.limit_bytes));
}

static void run_listing(struct disk_tier *tier, struct disk_task *task)
{
	struct listing_task *listing = (struct listing_task *)task;
	int error = index_begin(tier->writer);
	if (error == 0) {
		error = change_listing(tier, listing);
		if (error == 0) {
			error = index_commit(tier->writer);
		}
		if (error != 0) {
			index_rollback(tier->writer);
		}
	}
	/* A listing that is not kept is asked for again. */
	disk_tier_judge_index(tier, error);
	free_listing(listing);
}

static struct listing_task *create_listing(const char *source,
		const char *prefix, const void *blob, size_t length)
{
	struct listing_task *listing = calloc(1, sizeof(*listing));
	if (listing == NULL) {
		return NULL;
	}
	listing->task.run = run_listing;
	listing->source = strdup(source);
	listing->prefix = strdup(prefix);
	listing->blob = malloc(length + 1);
	listing->length = length;
	if (listing->source == NULL || listing->prefix == NULL ||
			listing->blob == NULL) {
		free_listing(listing);
		return NULL;
	}
	if (length > 0) {
		memcpy(listing->blob, blob, length);
	}
	return listing;
}

static int submit(struct disk_tier *tier, struct listing_task *listing)
{
	int error = disk_thread_submit(tier, &listing->task);
	if (error != 0) {
		free_listing(listing);
	}
	return error;
}

int disk_listing_put(struct disk_tier *tier, const char *source,
		const char *prefix, const void *blob, size_t length,
		uint64_t taken_wall_ms)
{
	if (disk_tier_is_off(tier)) {
		return -EIO;
	}
	struct listing_task *listing =
			create_listing(source, prefix, blob, length);
	if (listing == NULL) {
		return -ENOMEM;
	}
	listing->taken_ms = taken_wall_ms;
	return submit(tier, listing);
}

int disk_listing_remove(
		struct disk_tier *tier, const char *source, const char *prefix)
{
	if (disk_tier_is_off(tier)) {
		return -EIO;
	}
	struct listing_task *listing = create_listing(source, prefix, "", 0);
	if (listing == NULL) {
		return -ENOMEM;
	}
	listing->is_removal = true;
	return submit(tier, listing);
}

int disk_listing_get(struct disk_tier *tier, const char *source,
		const char *prefix, void **out_blob, size_t *out_length,
		uint64_t *out_taken_wall_ms)
{
	if (disk_tier_is_off(tier)) {
		return -ENOENT;
	}
	int error;
	{
		LOCK_SCOPE(&tier->reader_lock);
		error = index_get_listing(tier->reader, source, prefix,
				out_blob, out_length, out_taken_wall_ms);
	}
	if (error != 0 && error != -ENOENT && error != -ENOMEM) {
		disk_tier_judge_index(tier, error);
		error = -ENOENT;
	}
	return error;
}
