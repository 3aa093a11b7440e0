#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* A table that cannot grow refuses the element: see add_stat_locked. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->refused = true)
#include <uthash.h>

#include "base/cleanup.h"
#include "metadata_private.h"

struct stat_waiter {
	fetch_stat_done *done;
	void *context;
	struct stat_waiter *next;
};

/* One question and all who ask it at the same time. */
struct stat_job {
	struct metadata metadata;
	/* Guarded by lock until it ends, then of the thread that tells. */
	struct stat_waiter *waiters;
	/* The store's, during its callback. */
	struct object *object;
	UT_hash_handle hh;
	bool refused;
	/* Set at creation: the store's address, then the key and a NUL. */
	size_t id_length;
	char id[];
};

static struct stat_job *stat_of(struct job *job)
{
	return (struct stat_job *)job; /* The first member. */
}

static const char *key_of(const struct stat_job *stat)
{
	return stat->id + sizeof(struct store *);
}

static void on_done(void *context, const struct store_outcome *outcome,
		struct object *object)
{
	struct stat_job *stat = context;
	struct job *job = &stat->metadata.job;
	if (!job_enter(job)) {
		job_done(job, NULL);
		return;
	}
	stat->object = object;
	job_done(job, outcome);
}

static int start(struct job *job, struct store_call **out_call)
{
	static const struct store_callbacks_stat callbacks = {
			.on_done = on_done,
	};
	struct stat_job *stat = stat_of(job);
	return store_stat(job->endpoint->store, key_of(stat), &callbacks, stat,
			out_call);
}

/* Nobody joins an answer that is already there: it may be older than the
 * question. */
static void end(struct job *job, int error, struct endings *endings)
{
	struct stat_job *stat = stat_of(job);
	HASH_DEL(job->fetch->stats, stat);
	metadata_end(job, error, endings);
}

/* Absence is an answer, not a failure. */
static bool settle(struct job *job, const struct store_outcome *outcome,
		uint64_t now_ms, struct endings *endings)
{
	const bool absent = outcome->error == -ENOENT &&
			    outcome->advice == STORE_FINAL;
	if (outcome->error == 0 || absent) {
		end(job, outcome->error, endings);
		return false;
	}
	return metadata_settle_failure(job, outcome, now_ms, endings);
}

static void describe(const struct job *job, char *buffer, size_t size)
{
	const struct stat_job *stat = (const struct stat_job *)job;
	snprintf(buffer, size, "key=%s", key_of(stat));
}

static void finish(struct job *job)
{
	struct stat_job *stat = stat_of(job);
	const int error = stat->metadata.error;
	struct stat_waiter *waiter = NULL;
	struct stat_waiter *next = NULL;
	LL_FOREACH_SAFE (stat->waiters, waiter, next) {
		waiter->done(waiter->context, error,
				error == 0 ? stat->object : NULL);
		free(waiter);
	}
}

static void free_stat(struct job *job)
{
	free(stat_of(job));
}

static const struct job_ops stat_ops = {
		.start = start,
		.settle = settle,
		.requeue = metadata_requeue,
		.end = end,
		.expire = metadata_expire,
		.describe = describe,
		.finish = finish,
		.free = free_stat,
};

static struct stat_job *create_stat(struct store *store, const char *key)
{
	const size_t key_length = strlen(key);
	struct stat_job *stat = calloc(
			1, sizeof(*stat) + sizeof(store) + key_length + 1);
	if (stat == NULL) {
		return NULL;
	}
	stat->id_length = sizeof(store) + key_length;
	memcpy(stat->id, &store, sizeof(store));
	memcpy(stat->id + sizeof(store), key, key_length + 1);
	return stat;
}

/* Makes `stat` the one that others join. */
static int add_stat_locked(
		struct fetch *fetch, struct store *store, struct stat_job *stat)
{
	struct endpoint *endpoint = endpoint_get_locked(fetch, store);
	if (endpoint == NULL) {
		return -ENOMEM;
	}
	HASH_ADD_KEYPTR(hh, fetch->stats, stat->id, stat->id_length, stat);
	if (stat->refused) {
		return -ENOMEM;
	}
	job_init_locked(&stat->metadata.job, &stat_ops, fetch, endpoint);
	return 0;
}

int fetch_stat(struct fetch *fetch, struct store *store, const char *key,
		fetch_stat_done *done, void *context)
{
	CLEANUP_FREE struct stat_waiter *waiter = malloc(sizeof(*waiter));
	CLEANUP_FREE struct stat_job *fresh = create_stat(store, key);
	if (waiter == NULL || fresh == NULL) {
		return -ENOMEM;
	}
	*waiter = (struct stat_waiter){.done = done, .context = context};
	{
		LOCK_SCOPE(&fetch->lock);
		struct stat_job *stat = NULL;
		HASH_FIND(hh, fetch->stats, fresh->id, fresh->id_length, stat);
		if (stat != NULL) {
			LL_APPEND(stat->waiters, waiter);
			waiter = NULL;
			return 0;
		}
		const int error = add_stat_locked(fetch, store, fresh);
		if (error < 0) {
			return error;
		}
		LL_APPEND(fresh->waiters, waiter);
		waiter = NULL;
		stat = fresh;
		fresh = NULL;
		metadata_submit_locked(&stat->metadata);
	}
	scheduler_pump(fetch);
	return 0;
}
