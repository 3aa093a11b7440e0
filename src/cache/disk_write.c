#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "cache/disk_private.h"

static uint32_t first_chunk(uint64_t first)
{
	return (uint32_t)(first / DISK_CHUNK_BLOCKS);
}

static uint32_t last_chunk(uint64_t first, size_t count)
{
	return (uint32_t)((first + count - 1) / DISK_CHUNK_BLOCKS);
}

static uint64_t charge(const struct disk_object *object, uint64_t mask,
		uint32_t number)
{
	return index_chunk_bytes(mask, number, object->identity.size);
}

static uint64_t total_charge(
		const struct disk_object *object, uint64_t first, size_t count)
{
	uint64_t bytes = 0;
	for (uint32_t i = first_chunk(first); i <= last_chunk(first, count);
			i++) {
		bytes += charge(object, disk_object_mask(first, count, i), i);
	}
	return bytes;
}

static int write_bytes(struct disk_object *object, int fd, uint64_t first,
		size_t count, void *const *buffers)
{
	CLEANUP_FREE struct iovec *parts = calloc(count, sizeof(*parts));
	if (parts == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct iovec){
				.iov_base = buffers[i],
				.iov_len = disk_object_block_bytes(
						object, first + i),
		};
	}
	return data_file_write(fd, disk_files_direct(object),
			first * BLOCK_SIZE, parts, count);
}

/* Queues the row of one chunk, then shows its blocks to readers. */
static int record_chunk(struct disk_object *object, uint32_t number,
		uint64_t first, size_t count, const uint32_t *sums)
{
	uint64_t mask = disk_object_mask(first, count, number);
	uint32_t chunk_sums[DISK_CHUNK_BLOCKS];
	for (unsigned i = 0; i < DISK_CHUNK_BLOCKS; i++) {
		uint64_t block = (uint64_t)number * DISK_CHUNK_BLOCKS + i;
		if ((mask >> i & 1) != 0) {
			chunk_sums[i] = sums[block - first];
		}
	}
	int error = disk_pending_add(object, number, mask, chunk_sums,
			charge(object, mask, number));
	if (error == 0) {
		atomic_fetch_or_explicit(&object->chunks[number].present, mask,
				memory_order_release);
	}
	return error;
}

/* Returns in *out_lost what was charged for chunks without a row. */
static int write_pinned(struct disk_object *object, int fd, uint64_t first,
		size_t count, void *const *buffers, const uint32_t *sums,
		uint64_t *out_lost)
{
	*out_lost = total_charge(object, first, count);
	int error = write_bytes(object, fd, first, count, buffers);
	for (uint32_t i = first_chunk(first);
			error == 0 && i <= last_chunk(first, count); i++) {
		error = record_chunk(object, i, first, count, sums);
		if (error == 0) {
			*out_lost -= charge(object,
					disk_object_mask(first, count, i), i);
		}
	}
	return error;
}

/* The file, and the chunks kept from being evicted. */
static int hold_chunks(struct disk_object *object, uint64_t first, size_t count,
		int *out_fd)
{
	int error = disk_files_acquire(object, true, out_fd);
	if (error == 0) {
		error = disk_object_pin(object, first, count);
		if (error != 0) {
			disk_files_release(object);
		}
	}
	return error;
}

static int store_once(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers, const uint32_t *sums)
{
	struct disk_tier *tier = object->tier;
	uint64_t bytes = total_charge(object, first, count);
	int error = disk_grant_take(object, first, count, bytes);
	if (error != 0) {
		return error;
	}
	int fd = -1;
	error = hold_chunks(object, first, count, &fd);
	if (error != 0) {
		atomic_fetch_add(&tier->remaining, bytes); /* Not used. */
		return error;
	}
	uint64_t lost = 0;
	error = write_pinned(object, fd, first, count, buffers, sums, &lost);
	disk_object_unpin(object, first, count);
	disk_files_release(object);
	if (error != 0) {
		disk_grant_recover(object, lost);
	}
	return error;
}

static int store(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers, const uint32_t *sums)
{
	int error = store_once(object, first, count, buffers, sums);
	if (error == -EMFILE || error == -ENOBUFS) {
		/* Rows that wait keep their files: let them go first. */
		(void)disk_tier_flush(object->tier); /* Then it fails again. */
	}
	if (error == -EMFILE || error == -ENOBUFS || error == -EAGAIN) {
		error = store_once(object, first, count, buffers, sums);
	}
	return error;
}

static bool is_disk_trouble(int error)
{
	return error != -EAGAIN && error != -EMFILE && error != -ENOBUFS &&
	       error != -ENOMEM && error != -ESTALE && error != -ENOTSUP;
}

int disk_object_write(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers, const uint32_t *sums)
{
	struct disk_tier *tier = object->tier;
	if (disk_tier_is_off(tier)) {
		return -EIO;
	}
	if (!object->storable) {
		return -ENOTSUP;
	}
	if (count == 0 || first >= object->block_count ||
			count > object->block_count - first) {
		return -EINVAL;
	}
	if (disk_tier_is_paused(tier)) {
		return -ENOSPC;
	}
	int error = store(object, first, count, buffers, sums);
	if (error == 0) {
		uint64_t last = first + count - 1;
		atomic_store(&tier->last_write_ms, clock_monotonic_ms());
		counters_add(&tier->counters->bytes_written,
				(count - 1) * BLOCK_SIZE +
						disk_object_block_bytes(
								object, last));
		return 0;
	}
	if (is_disk_trouble(error)) {
		counters_add(&tier->counters->cache_errors, 1);
		disk_tier_pause(tier, error);
	}
	return error == -EDQUOT ? -ENOSPC : error;
}
