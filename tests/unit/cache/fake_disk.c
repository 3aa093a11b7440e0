#include "fake_disk.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "cache/disk_tier.h"
#include "fake_fetch.h"
#include "store/object.h"

#define BLOCKS 1024

struct disk_tier {
	int unused;
};

struct disk_object {
	uint64_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct disk_tier tier;
static struct disk_object the_object;
static bool present[BLOCKS];
static bool damaged[BLOCKS];
static uint8_t data[BLOCKS][BLOCK_SIZE];
static int write_error;
static bool hold, held;
static size_t written, writes, reads, opens, open_now;

struct disk_tier *fake_disk_reset(void)
{
	LOCK_SCOPE(&lock);
	memset(present, 0, sizeof(present));
	memset(damaged, 0, sizeof(damaged));
	write_error = 0;
	hold = held = false;
	written = writes = reads = opens = open_now = 0;
	return &tier;
}

void fake_disk_put(uint64_t first, size_t count)
{
	LOCK_SCOPE(&lock);
	for (uint64_t block = first; block < first + count; block++) {
		for (size_t i = 0; i < BLOCK_SIZE; i++) {
			data[block][i] =
					fake_fetch_byte(block * BLOCK_SIZE + i);
		}
		present[block] = true;
	}
}

void fake_disk_damage(uint64_t block)
{
	LOCK_SCOPE(&lock);
	damaged[block] = true;
}

void fake_disk_fail_writes(int error)
{
	LOCK_SCOPE(&lock);
	write_error = error;
}

void fake_disk_hold(void)
{
	LOCK_SCOPE(&lock);
	hold = true;
}

void fake_disk_release(void)
{
	LOCK_SCOPE(&lock);
	hold = false;
	(void)pthread_cond_broadcast(&changed);
}

static bool wait_locked(const struct timespec *until)
{
	return pthread_cond_timedwait(&changed, &lock, until) == 0;
}

static struct timespec in_5_s(void)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	return until;
}

bool fake_disk_wait_held(void)
{
	struct timespec until = in_5_s();
	LOCK_SCOPE(&lock);

	while (!held && wait_locked(&until)) {
	}
	return held;
}

bool fake_disk_wait_written(size_t blocks)
{
	struct timespec until = in_5_s();
	LOCK_SCOPE(&lock);

	while (written < blocks && wait_locked(&until)) {
	}
	return written >= blocks;
}

bool fake_disk_wait_closed(void)
{
	struct timespec until = in_5_s();
	LOCK_SCOPE(&lock);

	while (open_now > 0 && wait_locked(&until)) {
	}
	return open_now == 0;
}

size_t fake_disk_written(void)
{
	LOCK_SCOPE(&lock);
	return written;
}

size_t fake_disk_writes(void)
{
	LOCK_SCOPE(&lock);
	return writes;
}

size_t fake_disk_reads(void)
{
	LOCK_SCOPE(&lock);
	return reads;
}

size_t fake_disk_opens(void)
{
	LOCK_SCOPE(&lock);
	return opens;
}

/* ---- What the cache calls ---- */

int disk_object_open(struct disk_tier *of, struct object *object,
		struct disk_object **out_object)
{
	LOCK_SCOPE(&lock);
	the_object.size = object->size;
	opens++;
	open_now++;
	*out_object = &the_object;
	return 0;
}

void disk_object_close(struct disk_object *object)
{
	LOCK_SCOPE(&lock);
	open_now--;
	(void)pthread_cond_broadcast(&changed);
}

bool disk_object_has(const struct disk_object *object, uint64_t block)
{
	LOCK_SCOPE(&lock);
	return present[block];
}

uint64_t disk_object_bytes(const struct disk_object *object)
{
	uint64_t bytes = 0;
	LOCK_SCOPE(&lock);

	for (uint64_t i = 0; i * BLOCK_SIZE < object->size; i++) {
		uint64_t left = object->size - i * BLOCK_SIZE;
		bytes += present[i] * (left < BLOCK_SIZE ? left : BLOCK_SIZE);
	}
	return bytes;
}

int disk_object_read(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers)
{
	int error = 0;
	LOCK_SCOPE(&lock);

	reads++;
	for (size_t i = 0; i < count; i++) {
		if (damaged[first + i] || !present[first + i]) {
			present[first + i] = false;
			error = -EIO;
		}
		memcpy(buffers[i], data[first + i], BLOCK_SIZE);
	}
	return error;
}

int disk_object_write(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers, const uint32_t *sums)
{
	LOCK_SCOPE(&lock);
	writes++;
	while (hold) {
		held = true;
		(void)pthread_cond_broadcast(&changed);
		(void)pthread_cond_wait(&changed, &lock);
	}
	held = false;
	for (size_t i = 0; !write_error && i < count; i++) {
		memcpy(data[first + i], buffers[i], BLOCK_SIZE);
		present[first + i] = true;
	}
	written += write_error ? 0 : count;
	(void)pthread_cond_broadcast(&changed);
	return write_error;
}

void disk_object_touch(struct disk_object *object, uint64_t first, size_t count)
{
}
