#include "stream/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "cache/cache.h"
#include "store/object.h"
#include "stream/detector.h"
#include "stream/share_private.h"
#include "stream/window.h"

/* The kernel has at most two read-ahead windows of 1 MiB under way. */
#define SLACK_BYTES ((uint64_t)2 << 20)
/* Objects up to this are fetched whole, by one request. */
#define SMALL_BYTES ((uint64_t)4 << 20)

/* Reads of a file between two looks whether all of it is on disk. */
#define DISK_CHECK_READS 16

struct stream_set {
	struct stream_settings settings;
	struct share share;
};

/* The read-ahead of one stream of the detector. */
struct slot {
	struct window window;
	uint64_t serial; /* Counts who had the slot. */
	uint64_t period; /* The last one in which it was read. */
};

struct stream_file {
	/* Set at creation. */
	struct stream_set *set;
	struct cache_object *object;
	uint64_t size;

	atomic_uint references; /* One is the opener's, one each read's. */
	pthread_mutex_t lock;

	/* Guarded by lock. */
	struct detector detector;
	struct slot slots[DETECTOR_STREAMS];
	bool whole_asked; /* A small object was asked for. */
	bool on_disk;	  /* All of it was, when last looked. */
};

/* What a read is to do before and after it is started. */
struct decision {
	bool sequential;
	size_t slot;
	uint64_t serial;
	bool ask;
	uint64_t from, to, part;
};

int stream_set_create(const struct stream_settings *settings,
		struct stream_set **out_set)
{
	struct stream_set *set = calloc(1, sizeof(*set));

	if (!set) {
		return -ENOMEM;
	}
	set->settings = *settings;
	share_init(&set->share);
	*out_set = set;
	return 0;
}

void stream_set_destroy(struct stream_set *set)
{
	if (set) {
		share_finish(&set->share);
		free(set);
	}
}

unsigned stream_set_sequential_percent(const struct stream_set *set)
{
	return share_sequential_percent(&set->share);
}

/* ---- Files ---- */

int stream_file_open(struct stream_set *set, struct object *object,
		struct stream_file **out_file)
{
	struct stream_file *file = calloc(1, sizeof(*file));

	if (!file) {
		return -ENOMEM;
	}
	int error = cache_open(set->settings.cache, object, &file->object);
	if (error) {
		free(file);
		return error;
	}
	file->set = set;
	file->size = object->size;
	atomic_init(&file->references, 1);
	(void)pthread_mutex_init(&file->lock, NULL); /* No attributes. */
	detector_init(&file->detector, SLACK_BYTES);
	*out_file = file;
	return 0;
}

/* Every change of a window goes through here, for the gauges. */
static void set_window_locked(
		struct stream_file *file, size_t index, struct window window)
{
	struct counters *counters = file->set->settings.counters;
	struct window *old = &file->slots[index].window;

	if (window.bytes != old->bytes) {
		counters_add(&counters->streams, window.bytes > 0);
		counters_sub(&counters->streams, old->bytes > 0);
		counters_add(&counters->window_bytes, window.bytes);
		counters_sub(&counters->window_bytes, old->bytes);
	}
	*old = window;
}

static void file_unref(struct stream_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) > 1) {
		return;
	}
	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		set_window_locked(file, i, (struct window){.bytes = 0});
	}
	cache_close(file->object);
	(void)pthread_mutex_destroy(&file->lock);
	free(file);
}

void stream_file_close(struct stream_file *file)
{
	file_unref(file);
}

uint64_t stream_file_cached_bytes(const struct stream_file *file)
{
	return cache_object_disk_bytes(file->object);
}

/* ---- Deciding ---- */

/* The windows of streams that became part of `index` become part of its. */
static void merge_windows_locked(struct stream_file *file, size_t index)
{
	struct window all = file->slots[index].window;

	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		struct window window = file->slots[i].window;

		if (file->detector.streams[i].used || window.bytes == 0) {
			continue;
		}
		all.bytes = all.bytes > window.bytes ? all.bytes : window.bytes;
		all.ahead = all.ahead > window.ahead ? all.ahead : window.ahead;
		file->slots[i].serial++;
		set_window_locked(file, i, (struct window){.bytes = 0});
	}
	set_window_locked(file, index, all);
}

static struct detector_verdict detect_locked(
		struct stream_file *file, const struct cache_read *read)
{
	uint64_t jump[DETECTOR_STREAMS];

	/* What is under way ahead of each. */
	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		const struct window *window = &file->slots[i].window;
		uint64_t next = file->detector.streams[i].next;

		jump[i] = window->ahead > next ? window->ahead - next : 0;
	}
	struct detector_verdict verdict = detector_read(
			&file->detector, read->offset, read->length, jump);
	if (verdict.fresh) {
		file->slots[verdict.stream].serial++;
		set_window_locked(file, verdict.stream,
				(struct window){.bytes = 0});
	}
	if (verdict.sequential) {
		merge_windows_locked(file, verdict.stream);
	}
	return verdict;
}

/* The window of a stream that is being read: open, and within its limit. */
static struct window ready_window_locked(
		struct stream_file *file, size_t index, uint64_t offset)
{
	const struct stream_settings *settings = &file->set->settings;
	struct slot *slot = &file->slots[index];
	struct window window = slot->window;
	uint64_t period = share_period(clock_monotonic_ms());

	if (window.bytes == 0) {
		window_open(&window, offset);
	}
	if (slot->period != period) {
		slot->period = period;
		share_note_active(&file->set->share, period);
	}
	window_cap(&window, window_limit(settings->max_window,
					    settings->memory_bytes,
					    share_streams(&file->set->share)));
	return window;
}

static void decide_window_locked(struct stream_file *file,
		const struct cache_read *read, struct decision *decision)
{
	const struct stream_settings *settings = &file->set->settings;
	const struct detector_stream *stream =
			&file->detector.streams[decision->slot];
	struct window window =
			ready_window_locked(file, decision->slot, read->offset);
	struct window_place place = {
			.start = stream->start,
			.offset = read->offset,
			.end = read->offset + read->length,
			.next = stream->next,
			.size = file->size,
	};

	decision->ask = window_plan(&window, &place, settings->part_size,
			&decision->from, &decision->to);
	decision->part = window_part(window.bytes, settings->part_size);
	if (decision->ask) {
		window.ahead = decision->to;
	}
	set_window_locked(file, decision->slot, window);
}

static void decide_whole_locked(
		struct stream_file *file, struct decision *decision)
{
	decision->ask = !file->whole_asked;
	decision->to = file->size;
	decision->part = SMALL_BYTES;
	file->whole_asked = true;
}

/* Whether there is nothing to read ahead. Looked at now and then only: it
 * takes a look at every chunk of the object. */
static bool is_on_disk_locked(struct stream_file *file)
{
	if (file->detector.reads % DISK_CHECK_READS == 1) {
		file->on_disk = cache_object_disk_bytes(file->object) ==
				file->size;
	}
	return file->on_disk;
}

static struct decision decide(
		struct stream_file *file, const struct cache_read *read)
{
	struct decision decision = {.ask = false};
	LOCK_SCOPE(&file->lock);
	struct detector_verdict verdict = detect_locked(file, read);

	decision.slot = verdict.stream;
	decision.sequential = verdict.sequential;
	decision.serial = file->slots[verdict.stream].serial;
	if (is_on_disk_locked(file)) {
		return decision;
	}
	if (file->size <= SMALL_BYTES) {
		decide_whole_locked(file, &decision);
	} else if (verdict.sequential) {
		decide_window_locked(file, read, &decision);
	}
	return decision;
}

/* ---- Reading ---- */

/* The slot's window, if its stream is still the one that was decided on. */
static bool get_window_locked(const struct stream_file *file,
		const struct decision *decision, struct window *out_window)
{
	const struct slot *slot = &file->slots[decision->slot];

	if (slot->serial != decision->serial || slot->window.bytes == 0) {
		return false;
	}
	*out_window = slot->window;
	return true;
}

/* Memory allowed for less than was decided: the rest is asked for later. */
static void came_short(struct stream_file *file,
		const struct decision *decision, uint64_t reached)
{
	struct window window;
	LOCK_SCOPE(&file->lock);

	if (file->size <= SMALL_BYTES) {
		file->whole_asked = false;
	} else if (get_window_locked(file, decision, &window) &&
			window.ahead > reached) {
		window.ahead = reached;
		set_window_locked(file, decision->slot, window);
	}
}

/*
 * The reader had to wait. When that is because blocks were lost, the window
 * was too large for the memory, and what was lost is asked for again.
 */
static void reader_waited(struct stream_file *file,
		const struct decision *decision, uint64_t end)
{
	const struct stream_settings *settings = &file->set->settings;
	bool lost = cache_take_dropped(file->object) > 0;
	struct window window;
	LOCK_SCOPE(&file->lock);

	file->whole_asked &= !lost;
	if (!get_window_locked(file, decision, &window)) {
		return;
	}
	if (lost) {
		window_shrink(&window);
		window.ahead = window.ahead < end ? window.ahead : end;
	} else {
		window_grow(&window,
				window_limit(settings->max_window,
						settings->memory_bytes,
						share_streams(&file->set->share)));
	}
	set_window_locked(file, decision->slot, window);
}

int stream_read(struct stream_file *file, struct cache_read *read)
{
	struct decision decision = decide(file, read);
	uint64_t end = read->offset + read->length;

	share_note_read(&file->set->share, decision.sequential);
	/* Read-ahead first, with the demanded bytes in it: they travel in one
	 * request, which the read then makes urgent. */
	if (decision.ask) {
		uint64_t reached = cache_prefetch(file->object, decision.from,
				decision.to - decision.from, decision.part);
		if (reached < decision.to) {
			came_short(file, &decision, reached);
		}
	}
	/* The read may be over, and the file closed, before this returns. */
	(void)atomic_fetch_add(&file->references, 1);
	int result = cache_read_start(file->object, read);
	if (result == -EINPROGRESS) {
		reader_waited(file, &decision, end);
	}
	file_unref(file);
	return result;
}
