#include "main/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/workers.h"

#define LOG_MODULE "main"
#include "base/log.h"

#define TEXT_LIMIT ((size_t)1 << 20)
#define COMPLAINT_MS 600000

struct metrics_file {
	/* Set at creation. */
	struct metrics_file_settings settings;
	char *path;
	char *next_path; /* Written, then renamed over `path`. */
	unsigned long thread;
	bool started;
	unsigned long long complained; /* Its thread only. */
	/* Guarded by lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping;
};

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, bytes, length);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			return -errno;
		}
		bytes += done;
		length -= (size_t)done;
	}
	return 0;
}

/* Collectors run as other users: it has no secrets and is readable. */
static int replace(const struct metrics_file *file, const struct strbuf *text)
{
	CLEANUP_CLOSE int fd = open(file->next_path,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			0644);

	if (fd < 0) {
		return -errno;
	}
	int error = write_all(fd, text->text, text->length);

	if (error == 0 && rename(file->next_path, file->path) != 0) {
		error = -errno;
	}
	if (error != 0) {
		(void)unlink(file->next_path); /* Half a text at most. */
	}
	return error;
}

static int write_once(const struct metrics_file *file)
{
	struct strbuf text;

	strbuf_init(&text, TEXT_LIMIT);
	int error = file->settings.render(file->settings.context, &text);

	if (error == 0) {
		error = replace(file, &text);
	}
	strbuf_finish(&text);
	return error;
}

/* Waits for the next turn; false: it is time to end. */
static bool wait_turn(struct metrics_file *file)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(file->settings.interval_ms / 1000);
	until.tv_nsec += (long)(file->settings.interval_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	LOCK_SCOPE(&file->lock);
	while (!file->stopping && pthread_cond_timedwait(&file->changed,
						  &file->lock, &until) == 0) {
	}
	return !file->stopping;
}

static void *run(void *context)
{
	struct metrics_file *file = context;

	while (wait_turn(file)) {
		int error = write_once(file);

		if (error != 0 && log_ratelimit(&file->complained,
						  COMPLAINT_MS)) {
			log_warn("metrics file not written path=%s error=%s",
					file->path, strerror(-error));
		}
	}
	return NULL;
}

static void init_lock(struct metrics_file *file)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&file->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&file->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static int start(struct metrics_file *file)
{
	file->path = strdup(file->settings.path);
	if (file->path == NULL ||
			asprintf(&file->next_path, "%s.tmp", file->path) < 0) {
		file->next_path = NULL;
		return -ENOMEM;
	}
	int error = write_once(file);

	if (error == 0) {
		error = workers_start_thread(
				"metrics", run, file, &file->thread);
	}
	file->started = error == 0;
	return error;
}

int metrics_file_create(const struct metrics_file_settings *settings,
		struct metrics_file **out_file)
{
	struct metrics_file *file = calloc(1, sizeof(*file));

	if (file == NULL) {
		return -ENOMEM;
	}
	file->settings = *settings;
	init_lock(file);
	int error = start(file);

	if (error != 0) {
		metrics_file_destroy(file);
		return error;
	}
	*out_file = file;
	return 0;
}

static void stop_thread(struct metrics_file *file)
{
	{
		LOCK_SCOPE(&file->lock);
		file->stopping = true;
		(void)pthread_cond_signal(&file->changed);
	}
	(void)pthread_join((pthread_t)file->thread, NULL);
	(void)write_once(file); /* The last figures, if they can be kept. */
}

void metrics_file_destroy(struct metrics_file *file)
{
	if (file == NULL) {
		return;
	}
	if (file->started) {
		stop_thread(file);
	}
	(void)pthread_cond_destroy(&file->changed);
	(void)pthread_mutex_destroy(&file->lock);
	free(file->path);
	free(file->next_path);
	free(file);
}
