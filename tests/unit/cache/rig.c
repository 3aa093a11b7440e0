#include "rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "fake_disk.h"
#include "fake_fetch.h"
#include "store/ops.h"

static struct store the_store = {.name = "fake://bucket", .prefix = ""};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

struct object *rig_version(const char *key, const char *etag, uint64_t size)
{
	struct object *version = object_create(&the_store, key, etag, size, 1);

	cr_assert_not_null(version);
	version->cacheable = true;
	return version;
}

void rig_open(struct rig *rig, uint64_t memory_bytes, uint64_t size, bool disk)
{
	struct disk_tier *tier = fake_disk_reset();

	memset(rig, 0, sizeof(*rig));
	fake_fetch_reset();
	struct cache_settings settings = {
			.counters = &rig->counters,
			.memory_bytes = memory_bytes,
			.disk = disk ? tier : NULL,
	};
	cr_assert_eq(cache_create(&settings, &rig->cache), 0);
	rig->version = rig_version("key", "\"e\"", size);
	cr_assert_eq(cache_open(rig->cache, rig->version, &rig->object), 0);
}

void rig_close(struct rig *rig, uint64_t deadline_ms)
{
	if (rig->object) {
		cache_close(rig->object);
	}
	cache_destroy(rig->cache, deadline_ms);
	object_unref(rig->version);
	cr_assert_eq(counters_get(&rig->counters.memory_used_bytes), 0);
	cr_assert_eq(counters_get(&rig->counters.memory_waiters), 0);
}

static void on_done(struct cache_read *read)
{
	LOCK_SCOPE(&lock);
	((struct rig_read *)read)->done++;
	(void)pthread_cond_broadcast(&ended);
}

int rig_start(struct rig *rig, struct rig_read *read, uint64_t offset,
		size_t length)
{
	memset(read, 0x5a,
			sizeof(*read)); /* Nothing may be taken for granted. */
	read->done = 0;
	read->read.offset = offset;
	read->read.length = length;
	read->read.on_done = on_done;
	return cache_read_start(rig->object, &read->read);
}

static struct timespec in_5_s(void)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	return until;
}

bool rig_wait(struct rig_read *read)
{
	struct timespec until = in_5_s();
	LOCK_SCOPE(&lock);

	while (read->done == 0) {
		if (pthread_cond_timedwait(&ended, &lock, &until) != 0) {
			return false;
		}
	}
	return read->done == 1;
}

unsigned rig_done(struct rig_read *read)
{
	LOCK_SCOPE(&lock);
	return read->done;
}

bool rig_right(const struct rig_read *read)
{
	uint64_t offset = read->read.offset;

	if (read->read.error) {
		return false;
	}
	for (int i = 0; i < read->read.part_count; i++) {
		const uint8_t *bytes = read->read.parts[i].iov_base;

		for (size_t j = 0; j < read->read.parts[i].iov_len; j++) {
			if (bytes[j] != fake_fetch_byte(offset++)) {
				return false;
			}
		}
	}
	return offset == read->read.offset + read->read.length;
}

void rig_read_through(struct rig *rig, uint64_t offset, size_t length)
{
	struct rig_read read;
	size_t before = fake_fetch_count();

	cr_assert_eq(rig_start(rig, &read, offset, length), -EINPROGRESS);
	cr_assert(fake_fetch_wait_count(before + 1));
	fake_fetch_finish(before);
	cr_assert(rig_wait(&read));
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
}

bool rig_wait_used(struct rig *rig, uint64_t bytes)
{
	struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < 5000; i++) {
		if (counters_get(&rig->counters.memory_used_bytes) == bytes) {
			return true;
		}
		(void)nanosleep(&pause, NULL);
	}
	return false;
}
