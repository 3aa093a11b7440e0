#include <errno.h>
#include <stdlib.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "base/counters.h"
#include "cache/disk_private.h"

/* Reads of up to this many blocks need no memory of their own. */
#define SMALL_READ 32

/* The sums of a chunk, and for which blocks one is known. */
struct sums {
	uint32_t values[DISK_CHUNK_BLOCKS];
	uint64_t known;
};

/* Rows that wait are looked at first: they leave only once they are in the
 * index, so a sum is in one place or the other. */
static int find_sums(struct disk_object *object, uint32_t number,
		uint64_t wanted, struct sums *sums)
{
	struct disk_tier *tier = object->tier;
	uint32_t waiting[DISK_CHUNK_BLOCKS];
	uint64_t found = disk_pending_sums(object, number, waiting);
	struct index_chunk chunk = {.present = 0};
	if ((wanted & ~found) != 0) {
		int64_t id = disk_object_row(object).id;
		LOCK_SCOPE(&tier->reader_lock);
		int error = index_get_chunk(
				tier->reader, id, number, &chunk, sums->values);
		if (error != 0 && error != -ENOENT) {
			return error;
		}
	}
	for (unsigned i = 0; i < DISK_CHUNK_BLOCKS; i++) {
		if (found >> i & 1) {
			sums->values[i] = waiting[i];
		}
	}
	sums->known = found | chunk.present;
	return 0;
}

/* These blocks are not to be trusted: gone from memory now, from the index
 * with the next rows. */
static void drop_blocks(
		struct disk_object *object, uint32_t number, uint64_t mask)
{
	struct disk_chunk *chunk = &object->chunks[number];
	atomic_fetch_and(&chunk->present, ~mask);
	atomic_fetch_and(&chunk->checked, ~mask);
	/* Without room or memory the row stays, and is found out again. */
	(void)disk_pending_drop(object, number, mask);
}

static int verify_chunk(struct disk_object *object, uint32_t number,
		uint64_t wanted, uint64_t first, void *const *buffers)
{
	struct sums sums = {.known = 0};
	int error = find_sums(object, number, wanted, &sums);
	if (error != 0) {
		disk_tier_judge_index(object->tier, error);
		return -EIO;
	}
	uint64_t bad = 0;
	for (unsigned i = 0; i < DISK_CHUNK_BLOCKS; i++) {
		uint64_t bit = UINT64_C(1) << i;
		if ((wanted & sums.known & bit) == 0) {
			continue;
		}
		uint64_t block = (uint64_t)number * DISK_CHUNK_BLOCKS + i;
		size_t length = disk_object_block_bytes(object, block);
		if (digest_crc32c(buffers[block - first], length) !=
				sums.values[i]) {
			bad |= bit;
		}
	}
	uint64_t unknown = wanted & ~sums.known;
	if ((bad | unknown) != 0) {
		counters_add(&object->tier->counters->cache_damaged,
				(uint64_t)__builtin_popcountll(bad));
		drop_blocks(object, number, bad | unknown);
		return -EIO;
	}
	atomic_fetch_or(&object->chunks[number].checked, wanted);
	return 0;
}

static int verify(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers)
{
	enum disk_verify policy = object->tier->verify;
	if (policy == DISK_VERIFY_NEVER) {
		return 0;
	}
	uint32_t last = (uint32_t)((first + count - 1) / DISK_CHUNK_BLOCKS);
	int result = 0;
	for (uint32_t i = (uint32_t)(first / DISK_CHUNK_BLOCKS); i <= last;
			i++) {
		uint64_t wanted = disk_object_mask(first, count, i);
		if (policy == DISK_VERIFY_ONCE) {
			wanted &= ~atomic_load(&object->chunks[i].checked);
		}
		if (wanted != 0) {
			int error = verify_chunk(
					object, i, wanted, first, buffers);
			result = error != 0 ? error : result;
		}
	}
	return result;
}

/* A file that ends early was cut by someone: nothing in it counts. */
static void forget_file(struct disk_object *object)
{
	counters_add(&object->tier->counters->cache_damaged, 1);
	disk_object_clear(object);
	disk_files_discard(object);
	disk_evict_forget_later(object);
}

static int read_bytes(struct disk_object *object, int fd, uint64_t first,
		size_t count, void *const *buffers)
{
	struct iovec small[SMALL_READ];
	CLEANUP_FREE struct iovec *large = NULL;
	if (count > SMALL_READ) {
		large = calloc(count, sizeof(*large));
		if (large == NULL) {
			return -ENOMEM;
		}
	}
	struct iovec *parts = large != NULL ? large : small;
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct iovec){
				.iov_base = buffers[i],
				.iov_len = disk_object_block_bytes(
						object, first + i),
		};
	}
	return data_file_read(fd, first * BLOCK_SIZE, parts, count);
}

static int read_pinned(struct disk_object *object, int fd, uint64_t first,
		size_t count, void *const *buffers)
{
	if (!disk_object_is_present(object, first, count)) {
		return -ENOENT;
	}
	int error = read_bytes(object, fd, first, count, buffers);
	if (error == -ENODATA) {
		forget_file(object);
	}
	if (error != 0) {
		return error;
	}
	return verify(object, first, count, buffers);
}

static int read_held(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers)
{
	int fd = -1;
	int error = disk_files_acquire(object, false, &fd);
	if (error != 0) {
		return error;
	}
	error = disk_object_pin(object, first, count);
	if (error == 0) {
		error = read_pinned(object, fd, first, count, buffers);
		disk_object_unpin(object, first, count);
	}
	disk_files_release(object);
	return error;
}

int disk_object_read(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers)
{
	if (count == 0 || !disk_object_is_present(object, first, count)) {
		return -EIO;
	}
	int error = read_held(object, first, count, buffers);
	if (error != 0) {
		counters_add(&object->tier->counters->cache_errors, 1);
		return -EIO;
	}
	uint64_t last = first + count - 1;
	counters_add(&object->tier->counters->bytes_disk,
			(count - 1) * BLOCK_SIZE +
					disk_object_block_bytes(object, last));
	return 0;
}
