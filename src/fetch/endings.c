#include <utlist.h>

#include "base/cleanup.h"
#include "fetch_private.h"

void endings_add_range(
		struct endings *endings, struct fetch_range *range, int error)
{
	range->ended = true;
	range->error = error;
	range->flight = NULL;
	DL_APPEND(endings->ranges, range);
}

void endings_add_ranges(
		struct endings *endings, struct fetch_range *list, int error)
{
	struct fetch_range *range = NULL;
	struct fetch_range *next = NULL;
	DL_FOREACH_SAFE (list, range, next) {
		endings_add_range(endings, range, error);
	}
}

void endings_add_job(struct endings *endings, struct job *job)
{
	LL_APPEND2(endings->jobs, job, ending_next);
}

void endings_deliver(struct fetch *fetch, struct endings *endings)
{
	struct fetch_range *range = endings->ranges;
	while (range != NULL) {
		struct fetch_range *next = range->next; /* Gone after it. */
		range->on_done(range, range->error);
		range = next;
	}
	struct job *job = endings->jobs;
	while (job != NULL) {
		struct job *next = job->ending_next;
		job->ops->finish(job);
		LOCK_SCOPE(&fetch->lock);
		job_unref_locked(job);
		job = next;
	}
}
