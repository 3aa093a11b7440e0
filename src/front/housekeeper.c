#include "housekeeper_private.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/workers.h"
#include "front_private.h"
#include "readahead_private.h"
#include "stream/stream.h"

#define LOG_MODULE "front"
#define ENTRIES_MAX 1024
#define READAHEAD_EVERY_MS 1000

struct housekeeper_entry {
	uint64_t parent;
	char *name;
	struct housekeeper_entry *prev, *next;
};

/* What to do next, taken under the lock and done without it. */
struct housekeeper_work {
	bool ready;
	bool ended;
	struct housekeeper_entry *entry;
};

void housekeeper_init(struct housekeeper *housekeeper, struct front *front)
{
	*housekeeper = (struct housekeeper){.front = front};
	front_cond_init(&housekeeper->changed);
	(void)pthread_mutex_init(&housekeeper->lock, NULL); /* Never fails. */
}

static void free_entry(struct housekeeper_entry *entry)
{
	free(entry->name);
	free(entry);
}

void housekeeper_finish(struct housekeeper *housekeeper)
{
	struct housekeeper_entry *entry;
	struct housekeeper_entry *next;

	DL_FOREACH_SAFE (housekeeper->entries, entry, next) {
		free_entry(entry);
	}
	(void)pthread_cond_destroy(&housekeeper->changed);
	(void)pthread_mutex_destroy(&housekeeper->lock);
}

void housekeeper_note_ready(struct housekeeper *housekeeper)
{
	LOCK_SCOPE(&housekeeper->lock);
	housekeeper->ready = true;
	(void)pthread_cond_signal(&housekeeper->changed);
}

void housekeeper_invalidate(
		struct housekeeper *housekeeper, uint64_t parent, char *name)
{
	struct housekeeper_entry *entry = calloc(1, sizeof(*entry));
	struct housekeeper_entry *other = NULL;

	if (entry == NULL) {
		free(name);
		return;
	}
	entry->parent = parent;
	entry->name = name;
	LOCK_SCOPE(&housekeeper->lock);
	/* All reads of a changed file tell the same. */
	DL_FOREACH (housekeeper->entries, other) {
		if (other->parent == parent && strcmp(other->name, name) == 0) {
			break;
		}
	}
	if (other != NULL || housekeeper->entry_count >= ENTRIES_MAX) {
		free_entry(entry);
		return;
	}
	DL_APPEND(housekeeper->entries, entry);
	housekeeper->entry_count++;
	(void)pthread_cond_signal(&housekeeper->changed);
}

/* The stream room knows how reads have been lately. */
static void tune_readahead(struct housekeeper *housekeeper)
{
	unsigned wanted = readahead_decide(housekeeper->readahead_kib,
			stream_set_sequential_percent(
					housekeeper->front->settings.streams));

	if (wanted == housekeeper->readahead_kib) {
		return;
	}
	housekeeper->readahead_works =
			readahead_set(&housekeeper->front->device, wanted);
	housekeeper->readahead_kib = wanted;
}

static void begin_service(struct housekeeper *housekeeper)
{
	const struct front *front = housekeeper->front;

	if (front->device_known) {
		housekeeper->readahead_kib = READAHEAD_LARGE_KIB;
		housekeeper->readahead_works = readahead_set(
				&front->device, READAHEAD_LARGE_KIB);
	}
	log_debug("mounted readahead_set=%d", housekeeper->readahead_works);
	if (front->settings.on_ready != NULL) {
		front->settings.on_ready(front->settings.context);
	}
}

static void tell_kernel(
		struct front *front, const struct housekeeper_entry *entry)
{
	int error = fuse_lowlevel_notify_inval_entry(front->session,
			entry->parent, entry->name, strlen(entry->name));

	/* -ENOENT: it has forgotten the name by itself. */
	if (error != 0 && error != -ENOENT) {
		log_debug("cannot invalidate a name error=%d", error);
	}
}

static bool has_work_locked(const struct housekeeper *housekeeper)
{
	return housekeeper->ended || housekeeper->ready ||
	       housekeeper->entries != NULL;
}

static struct housekeeper_work wait_for_work(struct housekeeper *housekeeper)
{
	struct timespec deadline = front_deadline(
			housekeeper->readahead_works ? READAHEAD_EVERY_MS
						     : FRONT_FOREVER_MS);
	struct housekeeper_work work = {0};
	int error = 0;
	LOCK_SCOPE(&housekeeper->lock);

	while (!has_work_locked(housekeeper) && error == 0) {
		error = pthread_cond_timedwait(&housekeeper->changed,
				&housekeeper->lock, &deadline);
	}
	work.ended = housekeeper->ended;
	work.ready = housekeeper->ready;
	work.entry = housekeeper->entries;
	housekeeper->ready = false;
	if (work.entry != NULL) {
		DL_DELETE(housekeeper->entries, work.entry);
		housekeeper->entry_count--;
	}
	return work;
}

static void *run(void *context)
{
	struct housekeeper *housekeeper = context;

	for (;;) {
		struct housekeeper_work work = wait_for_work(housekeeper);
		if (work.ready && !work.ended) {
			begin_service(housekeeper);
		}
		if (work.entry != NULL) {
			if (!work.ended) {
				tell_kernel(housekeeper->front, work.entry);
			}
			free_entry(work.entry);
		}
		if (work.ended) {
			return NULL;
		}
		if (housekeeper->readahead_works) {
			tune_readahead(housekeeper);
		}
	}
}

int housekeeper_start(struct housekeeper *housekeeper)
{
	int error = workers_start_thread(
			"front-house", run, housekeeper, &housekeeper->thread);

	housekeeper->running = error == 0;
	return error;
}

void housekeeper_stop(struct housekeeper *housekeeper)
{
	if (!housekeeper->running) {
		return;
	}
	{
		LOCK_SCOPE(&housekeeper->lock);
		housekeeper->ended = true;
		(void)pthread_cond_signal(&housekeeper->changed);
	}
	(void)pthread_join(housekeeper->thread, NULL);
	housekeeper->running = false;
}
