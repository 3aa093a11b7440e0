#include "fake_fetch.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "base/cleanup.h"
#include "fetch/fetch.h"

#define RANGES_MAX 4096
#define PIECE 10000

struct entry {
	struct fetch_range *range; /* NULL: ended. */
	uint64_t offset, length, given;
	bool demand, canceled;
	unsigned promotions;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t submitted = PTHREAD_COND_INITIALIZER;
static struct entry entries[RANGES_MAX];
static size_t count;
static bool is_deaf;

void fake_fetch_reset(void)
{
	LOCK_SCOPE(&lock);
	count = 0;
	is_deaf = false;
}

void fake_fetch_be_deaf(bool deaf)
{
	LOCK_SCOPE(&lock);
	is_deaf = deaf;
}

uint8_t fake_fetch_byte(uint64_t offset)
{
	return (uint8_t)((offset * 2654435761U + (offset >> 16) * 97) >> 7);
}

/* ---- What the cache calls ---- */

void fetch_range_submit(struct fetch *fetch, struct fetch_range *range)
{
	LOCK_SCOPE(&lock);
	assert(count < RANGES_MAX);
	entries[count++] = (struct entry){
			.range = range,
			.offset = range->offset,
			.length = range->length,
			.demand = range->demand,
	};
	(void)pthread_cond_broadcast(&submitted);
}

static struct entry *find(const struct fetch_range *range)
{
	for (size_t i = 0; i < count; i++) {
		if (entries[i].range == range) {
			return &entries[i];
		}
	}
	return NULL;
}

void fetch_range_promote(struct fetch *fetch, struct fetch_range *range)
{
	LOCK_SCOPE(&lock);
	struct entry *entry = find(range);

	if (entry && !is_deaf) {
		range->demand = true;
		entry->demand = true;
		entry->promotions++;
	}
}

void fetch_range_cancel(struct fetch *fetch, struct fetch_range *range)
{
	LOCK_SCOPE(&lock);
	struct entry *entry = find(range);

	if (entry) {
		entry->canceled = true;
	}
}

/* ---- What tests call ---- */

size_t fake_fetch_count(void)
{
	LOCK_SCOPE(&lock);
	return count;
}

bool fake_fetch_wait_count(size_t wanted)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	LOCK_SCOPE(&lock);
	while (count < wanted) {
		if (pthread_cond_timedwait(&submitted, &lock, &until) != 0) {
			return false;
		}
	}
	return true;
}

static struct entry *at(size_t index)
{
	assert(index < count);
	return &entries[index];
}

uint64_t fake_fetch_offset(size_t index)
{
	LOCK_SCOPE(&lock);
	return at(index)->offset;
}

uint64_t fake_fetch_length(size_t index)
{
	LOCK_SCOPE(&lock);
	return at(index)->length;
}

bool fake_fetch_demand(size_t index)
{
	LOCK_SCOPE(&lock);
	return at(index)->demand;
}

unsigned fake_fetch_promotions(size_t index)
{
	LOCK_SCOPE(&lock);
	return at(index)->promotions;
}

bool fake_fetch_canceled(size_t index)
{
	LOCK_SCOPE(&lock);
	return at(index)->canceled;
}

void fake_fetch_give(size_t index, uint64_t length)
{
	struct entry *entry = at(index);
	uint8_t piece[PIECE];

	while (length > 0) {
		size_t part = length < PIECE ? (size_t)length : PIECE;
		uint64_t offset = entry->offset + entry->given;

		for (size_t i = 0; i < part; i++) {
			piece[i] = fake_fetch_byte(offset + i);
		}
		entry->given += part;
		length -= part;
		entry->range->on_data(entry->range, offset, piece, part);
	}
}

void fake_fetch_end(size_t index, int error)
{
	struct fetch_range *range = at(index)->range;
	{
		LOCK_SCOPE(&lock);
		at(index)->range = NULL;
	}
	range->on_done(range, error);
}

void fake_fetch_finish(size_t index)
{
	struct entry *entry = at(index);

	fake_fetch_give(index, entry->length - entry->given);
	fake_fetch_end(index, 0);
}
