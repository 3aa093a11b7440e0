#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metadata_private.h"

/*
 * A listing, page after page. Each page is a request with its own attempts. The
 * caller hears of a page while the transfer that brought it is still taken, so
 * that pages come in order and one at a time.
 */
struct list_job {
	struct metadata metadata;
	/* Set at creation. */
	struct fetch_list_callbacks callbacks;
	void *context;
	char *prefix;
	bool recursive;
	uint32_t max_keys;
	unsigned max_pages;
	/* Of the thread inside job_enter while ACTIVE, else of the lock. */
	unsigned pages;
	char *token;	/* Of the page to ask for; NULL: the first. */
	char *anchor;	/* An older token, to notice a circle. */
	bool more;	/* Pages are left. */
	int page_error; /* Why no further page is asked for. */
	bool endless;	/* ... since there would be no last one. */
};

static struct list_job *list_of(struct job *job)
{
	return (struct list_job *)job; /* The first member. */
}

/*
 * A token that was there before never leads to an end. The anchor moves to the
 * newest token at each power of two, so that a circle of any length is noticed
 * before it was gone through twice.
 */
static bool token_repeats(const struct list_job *list, const char *token)
{
	return (list->token != NULL && strcmp(list->token, token) == 0) ||
	       (list->anchor != NULL && strcmp(list->anchor, token) == 0);
}

static int move_anchor(struct list_job *list)
{
	const bool power_of_two = (list->pages & (list->pages - 1)) == 0;
	if (!power_of_two) {
		return 0;
	}
	char *anchor = strdup(list->token);
	if (anchor == NULL) {
		return -ENOMEM;
	}
	free(list->anchor);
	list->anchor = anchor;
	return 0;
}

static int take_token(struct list_job *list, const char *next_token)
{
	char *token = strdup(next_token);
	if (token == NULL) {
		return -ENOMEM;
	}
	free(list->token);
	list->token = token;
	return move_anchor(list);
}

/* The page goes to the caller; sets what comes after it. */
static int take_page(struct list_job *list, const struct store_page *page)
{
	const char *next = page->next_token;
	list->more = next != NULL;
	if (next != NULL && (next[0] == '\0' || token_repeats(list, next))) {
		list->endless = true;
		return -EIO;
	}
	const int error = list->callbacks.on_page(list->context, page);
	if (error < 0 || next == NULL) {
		return error;
	}
	list->pages++;
	return take_token(list, next);
}

static void on_done(void *context, const struct store_outcome *outcome,
		const struct store_page *page)
{
	struct list_job *list = context;
	struct job *job = &list->metadata.job;
	if (!job_enter(job)) {
		job_done(job, NULL);
		return;
	}
	if (outcome->error == 0) {
		list->page_error = take_page(list, page);
	}
	job_done(job, outcome);
}

static int start(struct job *job, struct store_call **out_call)
{
	static const struct store_callbacks_list callbacks = {
			.on_done = on_done,
	};
	struct list_job *list = list_of(job);
	const struct store_list_args args = {
			.prefix = list->prefix,
			.token = list->token,
			.recursive = list->recursive,
			.max_keys = list->max_keys,
	};
	return store_list(job->endpoint->store, &args, &callbacks, list,
			out_call);
}

static bool settle(struct job *job, const struct store_outcome *outcome,
		uint64_t now_ms, struct endings *endings)
{
	struct list_job *list = list_of(job);
	if (outcome->error != 0) {
		list->more = true;
		return metadata_settle_failure(job, outcome, now_ms, endings);
	}
	const bool enough =
			list->max_pages > 0 && list->pages >= list->max_pages;
	if (list->page_error != 0 || !list->more || enough) {
		metadata_end(job, list->page_error, endings);
		return list->endless;
	}
	list->metadata.retry = (struct fetch_retry){.silent_since_ms = now_ms};
	metadata_requeue(job);
	return false;
}

static void describe(const struct job *job, char *buffer, size_t size)
{
	const struct list_job *list = (const struct list_job *)job;
	snprintf(buffer, size, "prefix=%s page=%u", list->prefix,
			list->pages + 1);
}

static void finish(struct job *job)
{
	struct list_job *list = list_of(job);
	list->callbacks.on_done(
			list->context, list->metadata.error, list->more);
}

static void free_list(struct list_job *list)
{
	free(list->prefix);
	free(list->token);
	free(list->anchor);
	free(list);
}

static void free_job(struct job *job)
{
	free_list(list_of(job));
}

static const struct job_ops list_ops = {
		.start = start,
		.settle = settle,
		.requeue = metadata_requeue,
		.end = metadata_end,
		.expire = metadata_expire,
		.describe = describe,
		.finish = finish,
		.free = free_job,
};

static struct list_job *create_list(const struct fetch_list_args *args,
		const struct fetch_list_callbacks *callbacks, void *context)
{
	struct list_job *list = calloc(1, sizeof(*list));
	if (list == NULL) {
		return NULL;
	}
	list->callbacks = *callbacks;
	list->context = context;
	list->recursive = args->recursive;
	list->max_keys = args->max_keys;
	list->max_pages = args->max_pages;
	list->more = true;
	list->prefix = strdup(args->prefix);
	if (list->prefix == NULL) {
		free_list(list);
		return NULL;
	}
	return list;
}

int fetch_list(struct fetch *fetch, const struct fetch_list_args *args,
		const struct fetch_list_callbacks *callbacks, void *context)
{
	struct list_job *list = create_list(args, callbacks, context);
	if (list == NULL) {
		return -ENOMEM;
	}
	{
		LOCK_SCOPE(&fetch->lock);
		struct endpoint *endpoint =
				endpoint_get_locked(fetch, args->store);
		if (endpoint == NULL) {
			free_list(list);
			return -ENOMEM;
		}
		job_init_locked(&list->metadata.job, &list_ops, fetch,
				endpoint);
		metadata_submit_locked(&list->metadata);
	}
	scheduler_pump(fetch);
	return 0;
}
