#include "stack.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "cache/cache.h"
#include "cache/disk_tier.h"
#include "fetch/fetch.h"
#include "store/object.h"
#include "store/testing.h"
#include "stream/stream.h"

static uint32_t seed_of(const char *key)
{
	uint32_t seed = 17;

	while (*key) {
		seed = seed * 31 + (uint8_t)*key++;
	}
	return seed;
}

static uint64_t or_else(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static void open_disk(struct stack *stack)
{
	char message[512] = "";

	strcpy(stack->disk_dir, "/tmp/shardfs-test-XXXXXX");
	cr_assert_not_null(mkdtemp(stack->disk_dir));
	struct disk_tier_settings settings = {
			.counters = &stack->counters,
			.dir = stack->disk_dir,
			.limit_bytes = 1024 * MIB,
			.verify = DISK_VERIFY_ALWAYS,
			.trust_network_fs = true,
	};
	cr_assert_eq(disk_tier_open(&settings, &stack->disk, message,
				     sizeof(message)),
			0, "%s", message);
}

void stack_open(struct stack *stack, const struct stack_options *options)
{
	uint64_t part = or_else(options->part_size, 8 * MIB);
	uint64_t memory = or_else(options->memory_bytes, 256 * MIB);

	memset(stack, 0, sizeof(*stack));
	cr_assert_eq(memory_store_create("mem://bucket", "", &stack->store), 0);
	struct fetch_settings fetch = {
			.counters = &stack->counters,
			.part_size = part,
			.max_connections = 64,
			.timeout_ms = 20000,
			.retries = 10,
	};
	cr_assert_eq(fetch_create(&fetch, &stack->fetch), 0);
	if (options->disk) {
		open_disk(stack);
	}
	struct cache_settings cache = {
			.fetch = stack->fetch,
			.counters = &stack->counters,
			.memory_bytes = memory,
			.disk = stack->disk,
	};
	cr_assert_eq(cache_create(&cache, &stack->cache), 0);
	struct stream_settings stream = {
			.cache = stack->cache,
			.counters = &stack->counters,
			.max_window = or_else(options->max_window, 64 * MIB),
			.part_size = part,
			.memory_bytes = memory,
	};
	cr_assert_eq(stream_set_create(&stream, &stack->set), 0);
}

static int remove_entry(const char *path, const struct stat *st, int type,
		struct FTW *at)
{
	return remove(path);
}

void stack_close(struct stack *stack)
{
	stream_set_destroy(stack->set);
	fetch_stop(stack->fetch, -EIO);
	cache_destroy(stack->cache, 5000);
	fetch_destroy(stack->fetch);
	if (stack->disk) {
		disk_tier_close(stack->disk);
		(void)nftw(stack->disk_dir, remove_entry, 16,
				FTW_DEPTH | FTW_PHYS);
	}
	store_destroy(stack->store);
	cr_assert_eq(counters_get(&stack->counters.streams), 0);
	cr_assert_eq(counters_get(&stack->counters.window_bytes), 0);
	cr_assert_eq(counters_get(&stack->counters.memory_used_bytes), 0);
	cr_assert_eq(counters_get(&stack->counters.memory_waiters), 0);
}

struct object *stack_put(struct stack *stack, const char *key, uint64_t size)
{
	cr_assert_eq(memory_store_put_pattern(stack->store, key, size,
				     seed_of(key), "\"one\""),
			0);
	struct object *object = object_create(
			stack->store, key, "\"one\"", size, MEMORY_STORE_MTIME);
	cr_assert_not_null(object);
	object->cacheable = true;
	return object;
}

struct stream_file *stack_open_file(
		struct stack *stack, const char *key, uint64_t size)
{
	struct object *object = stack_put(stack, key, size);
	struct stream_file *file;

	cr_assert_eq(stream_file_open(stack->set, object, &file), 0);
	object_unref(object);
	return file;
}

/* ---- Reading ---- */

struct waited_read {
	struct cache_read read;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

static void on_done(struct cache_read *read)
{
	struct waited_read *waited = (struct waited_read *)read;
	LOCK_SCOPE(&waited->lock);

	waited->is_done = true;
	(void)pthread_cond_signal(&waited->done);
}

static bool right(const struct cache_read *read, const char *key)
{
	uint32_t seed = seed_of(key);
	uint64_t offset = read->offset;

	for (int i = 0; i < read->part_count; i++) {
		const uint8_t *bytes = read->parts[i].iov_base;

		for (size_t j = 0; j < read->parts[i].iov_len; j++) {
			if (bytes[j] != memory_store_byte(seed, offset++)) {
				return false;
			}
		}
	}
	return offset == read->offset + read->length;
}

static int read_once(struct stream_file *file, const char *key, uint64_t offset,
		size_t length)
{
	struct waited_read waited = {
			.read = {.offset = offset,
					.length = length,
					.on_done = on_done},
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.done = PTHREAD_COND_INITIALIZER,
	};
	int result = stream_read(file, &waited.read);

	if (result == -EINPROGRESS) {
		LOCK_SCOPE(&waited.lock);
		while (!waited.is_done) {
			(void)pthread_cond_wait(&waited.done, &waited.lock);
		}
	}
	int error = waited.read.error;
	if (!error && !right(&waited.read, key)) {
		error = -EBADMSG;
	}
	cache_read_release(&waited.read);
	return error;
}

int stack_read_all(struct stream_file *file, const char *key, uint64_t offset,
		uint64_t length, uint64_t step)
{
	while (length > 0) {
		uint64_t part = length < step ? length : step;
		int error = read_once(file, key, offset, part);

		if (error) {
			return error;
		}
		offset += part;
		length -= part;
	}
	return 0;
}

int stack_read(struct stream_file *file, const char *key, uint64_t offset,
		uint64_t length)
{
	return stack_read_all(file, key, offset, length, CACHE_READ_MAX_BYTES);
}

/* ---- What was asked ---- */

/* Nothing is under way when no transfer is counted and memory does not move. */
static void wait_idle(struct stack *stack)
{
	struct timespec pause = {.tv_nsec = 5000000};
	size_t before = SIZE_MAX;
	int quiet = 0;

	for (int i = 0; i < 2000 && quiet < 4; i++) {
		size_t now = memory_store_count(stack->store, 'g');
		bool idle = now == before &&
			    counters_get(&stack->counters.transfers) == 0;
		quiet = idle ? quiet + 1 : 0;
		before = now;
		(void)nanosleep(&pause, NULL);
	}
}

static void add_record(const struct memory_store_record *record,
		uint8_t *blocks, struct stack_asked *asked)
{
	asked->requests++;
	asked->bytes += record->length;
	for (uint64_t at = 0; at < record->length; at += BLOCK_SIZE) {
		uint64_t left = record->length - at;
		uint64_t block = (record->offset + at) / BLOCK_SIZE;

		if (blocks[block]++) {
			asked->twice += left < BLOCK_SIZE ? left : BLOCK_SIZE;
		}
	}
}

struct stack_asked stack_asked(struct stack *stack)
{
	struct stack_asked asked = {.requests = 0};
	struct memory_store_record record;
	CLEANUP_FREE uint8_t *blocks = calloc(1, 1 << 20);

	wait_idle(stack);
	for (size_t i = 0;
			memory_store_get_record(stack->store, i, &record) == 0;
			i++) {
		if (record.kind == 'g') {
			add_record(&record, blocks, &asked);
		}
	}
	return asked;
}
