#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/workers.h"
#include "file_store_private.h"
#include "store/object.h"
#include "store/ops.h"

#define THREAD_COUNT 8
#define PIECE_BYTES ((size_t)262144)

struct file_store {
	struct store store;
	struct file_root root;
	struct workers *workers;
	atomic_bool stopping;
};

struct file_call {
	struct store_call call;
	/* Set at creation: */
	struct workers_task task;
	struct file_store *store;
	union {
		const struct store_callbacks_stat *stat;
		const struct store_callbacks_list *list;
		const struct store_callbacks_get *get;
	} callbacks;
	void *context;
	char *key; /* Or prefix. */
	char *token;
	struct store_list_args args;
	struct object *object;
	uint64_t offset, length;
	uint64_t started_us;
	/* Any thread: */
	atomic_bool canceled;
};

static struct file_store *file_store(const struct store *store)
{
	return (struct file_store *)((char *)store -
				     offsetof(struct file_store, store));
}

static struct file_call *call_of_task(struct workers_task *task)
{
	return (struct file_call *)((char *)task -
				    offsetof(struct file_call, task));
}

static bool call_ended(const struct file_call *call)
{
	return atomic_load(&call->canceled) ||
	       atomic_load(&call->store->stopping);
}

static struct store_outcome outcome_of(const struct file_call *call, int error)
{
	const uint64_t total_us = clock_monotonic_us() - call->started_us;
	return (struct store_outcome){
			.error = error,
			.advice = error == -EIO || error == -ENOMEM
						  ? STORE_RETRY
						  : STORE_FINAL,
			.answered = error != -ECANCELED,
			.first_byte_us = total_us,
			.total_us = total_us,
			.detail = strerror(-error),
	};
}

/* The descriptor of the root for this call; -ECANCELED, -EIO. */
static int call_open_root(const struct file_call *call)
{
	return call_ended(call) ? -ECANCELED
				: file_open_root(&call->store->root);
}

/* ---- stat ---- */

static int stat_object(struct file_call *call, struct object **out_object)
{
	CLEANUP_CLOSE int root_fd = call_open_root(call);
	if (root_fd < 0) {
		return root_fd;
	}
	if (!file_key_valid(call->key)) {
		return -ENOENT;
	}
	CLEANUP_CLOSE int fd = file_open_beneath(root_fd, call->key, O_PATH);
	if (fd < 0) {
		return file_store_error(fd);
	}
	struct stat status;
	if (fstat(fd, &status) < 0) {
		return -EIO;
	}
	if (!S_ISREG(status.st_mode)) {
		return -ENOENT;
	}
	char etag[FILE_ETAG_SIZE];
	file_etag(&status, etag);
	struct object *object = object_create(&call->store->store, call->key,
			etag, (uint64_t)status.st_size, status.st_mtim.tv_sec);
	if (object == NULL) {
		return -ENOMEM;
	}
	object->cacheable = !file_unsettled(&status);
	*out_object = object;
	return 0;
}

static void run_stat(struct workers_task *task)
{
	struct file_call *call = call_of_task(task);
	struct object *object = NULL;
	const struct store_outcome outcome =
			outcome_of(call, stat_object(call, &object));
	call->callbacks.stat->on_done(call->context, &outcome, object);
	object_unref(object);
	store_call_unref(&call->call);
}

/* ---- list ---- */

static int list_page(struct file_call *call, struct file_page *out_page)
{
	CLEANUP_CLOSE int root_fd = call_open_root(call);
	if (root_fd < 0) {
		return root_fd;
	}
	return file_list(root_fd, &call->args, out_page);
}

static void run_list(struct workers_task *task)
{
	struct file_call *call = call_of_task(task);
	struct file_page page = {0};
	const struct store_outcome outcome =
			outcome_of(call, list_page(call, &page));
	call->callbacks.list->on_done(call->context, &outcome,
			outcome.error == 0 ? &page.page : NULL);
	file_page_finish(&page);
	store_call_unref(&call->call);
}

/* ---- get ---- */

static int give_pieces(struct file_call *call, int fd)
{
	CLEANUP_FREE char *piece = malloc(PIECE_BYTES);
	if (piece == NULL) {
		return -ENOMEM;
	}
	uint64_t done = 0;
	while (done < call->length) {
		if (call_ended(call)) {
			return -ECANCELED;
		}
		const uint64_t offset = call->offset + done;
		const uint64_t left = call->length - done;
		const size_t now = left < PIECE_BYTES ? left : PIECE_BYTES;
		const int error = file_read_version(
				fd, call->object, offset, piece, now);
		if (error < 0) {
			return error;
		}
		if (call->callbacks.get->on_data(
				    call->context, offset, piece, now) < 0) {
			return -ECANCELED;
		}
		done += now;
	}
	return 0;
}

static int get_range(struct file_call *call)
{
	CLEANUP_CLOSE int root_fd = call_open_root(call);
	if (root_fd < 0) {
		return root_fd;
	}
	CLEANUP_CLOSE int fd = file_open_version(root_fd, call->object);
	return fd < 0 ? fd : give_pieces(call, fd);
}

static void run_get(struct workers_task *task)
{
	struct file_call *call = call_of_task(task);
	const struct store_outcome outcome = outcome_of(call, get_range(call));
	call->callbacks.get->on_done(call->context, &outcome);
	store_call_unref(&call->call);
}

/* ---- Calls ---- */

static void call_cancel(struct store_call *base)
{
	atomic_store(&((struct file_call *)base)->canceled, true);
}

static void call_free(struct store_call *base)
{
	struct file_call *call = (struct file_call *)base;
	free(call->key);
	free(call->token);
	object_unref(call->object);
	free(call);
}

static const struct store_call_ops call_ops = {
		.cancel = call_cancel,
		.free = call_free,
};

static struct file_call *make_call(struct store *store, const char *key,
		void *context, void (*run)(struct workers_task *task))
{
	struct file_call *call = calloc(1, sizeof(*call));
	if (call == NULL) {
		return NULL;
	}
	call->store = file_store(store);
	call->context = context;
	call->started_us = clock_monotonic_us();
	call->task.run = run;
	call->key = strdup(key);
	if (call->key == NULL) {
		free(call);
		return NULL;
	}
	return call;
}

static void submit_call(struct file_call *call, struct store_call **out_call)
{
	store_call_init(&call->call, &call_ops, out_call);
	workers_submit(call->store->workers, &call->task);
}

static int file_stat(struct store *store, const char *key,
		const struct store_callbacks_stat *callbacks, void *context,
		struct store_call **out_call)
{
	struct file_call *call = make_call(store, key, context, run_stat);
	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks.stat = callbacks;
	submit_call(call, out_call);
	return 0;
}

static int file_list_start(struct store *store,
		const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call)
{
	struct file_call *call =
			make_call(store, args->prefix, context, run_list);
	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks.list = callbacks;
	call->args = *args;
	call->args.prefix = call->key;
	if (args->token != NULL) {
		call->token = strdup(args->token);
		call->args.token = call->token;
		if (call->token == NULL) {
			call_free(&call->call);
			return -ENOMEM;
		}
	}
	submit_call(call, out_call);
	return 0;
}

static int file_get(struct store *store, struct object *object, uint64_t offset,
		uint64_t length, const struct store_callbacks_get *callbacks,
		void *context, struct store_call **out_call)
{
	struct file_call *call = make_call(store, "", context, run_get);
	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks.get = callbacks;
	call->object = object_ref(object);
	call->offset = offset;
	call->length = length;
	submit_call(call, out_call);
	return 0;
}

static int file_url(
		const struct store *store, const char *key, struct strbuf *out)
{
	return strbuf_printf(out, "%s/%s", store->name, key);
}

static int file_describe(const struct store *store, struct strbuf *out)
{
	return strbuf_printf(out, "%s: a directory", store->name);
}

static void file_destroy(struct store *store)
{
	struct file_store *self = file_store(store);
	atomic_store(&self->stopping, true);
	if (self->workers != NULL) {
		workers_destroy(self->workers);
	}
	free(self->root.path);
	free(self->store.name);
	free(self->store.prefix);
	free(self);
}

static const struct store_ops file_ops = {
		.stat = file_stat,
		.list = file_list_start,
		.get = file_get,
		.url = file_url,
		.describe = file_describe,
		.destroy = file_destroy,
};

static int find_root(const char *dir, struct file_root *root)
{
	root->path = realpath(dir, NULL);
	if (root->path == NULL) {
		return -errno;
	}
	CLEANUP_CLOSE int fd =
			open(root->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0) {
		return -errno;
	}
	root->device = status.st_dev;
	return 0;
}

int file_store_create(const char *dir, struct store **out_store)
{
	struct file_store *self = calloc(1, sizeof(*self));
	if (self == NULL) {
		return -ENOMEM;
	}
	self->store.ops = &file_ops;
	int error = find_root(dir, &self->root);
	if (error == 0) {
		const char *path = self->root.path;
		self->store.prefix = strdup("");
		if (asprintf(&self->store.name, "file://%s",
				    strcmp(path, "/") == 0 ? "" : path) < 0) {
			self->store.name = NULL;
		}
		error = self->store.prefix == NULL || self->store.name == NULL
					? -ENOMEM
					: workers_create("file", THREAD_COUNT,
							  &self->workers);
	}
	if (error < 0) {
		file_destroy(&self->store);
		return error;
	}
	*out_store = &self->store;
	return 0;
}
