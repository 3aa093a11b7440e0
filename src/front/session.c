#include "front/front.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "capture_private.h"
#include "front_private.h"
#include "loop_private.h"
#include "ops_private.h"
#include "options_private.h"
#include "unmount_private.h"

#define LOG_MODULE "front"
#define FD_MOUNTPOINT "/dev/fd/"
/* Text of libfuse goes to our log once the mount stands. */
static void on_fuse_log(enum fuse_log_level level, const char *format,
		va_list arguments)
{
	char text[512];

	(void)vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_write(level <= FUSE_LOG_ERR ? LOG_WARN : LOG_DEBUG, LOG_MODULE,
			"libfuse: %s", text);
}

void front_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	/* None of these fails on Linux: they allocate nothing. */
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

struct timespec front_deadline(uint64_t timeout_ms)
{
	struct timespec deadline;

	(void)clock_gettime(CLOCK_MONOTONIC, &deadline); /* It exists. */
	deadline.tv_sec += (time_t)(timeout_ms / 1000);
	deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_sec++;
		deadline.tv_nsec -= 1000000000;
	}
	return deadline;
}

void front_stop_readers(struct front *front)
{
	if (atomic_exchange(&front->stopped, true)) {
		return;
	}
	parking_close(&front->parking);
	if (front->settings.on_stop != NULL) {
		front->settings.on_stop(front->settings.context);
	}
}

void front_note_interrupt(struct front *front, const void *req)
{
	if (park_note_interrupt(&front->parking, req)) {
		interrupts_note(&front->interrupts);
	}
}

static struct front *make_front(const struct front_settings *settings)
{
	struct front *front = calloc(1, sizeof(*front));

	if (front == NULL) {
		return NULL;
	}
	front->settings = *settings;
	front->settings.source = strdup(settings->source);
	front->settings.mountpoint = strdup(settings->mountpoint);
	front->style = (struct attr_style){
			.uid = settings->uid,
			.gid = settings->gid,
			.file_mode = settings->file_mode & 07777,
			.dir_mode = settings->dir_mode & 07777,
	};
	front->mounted_here = strncmp(settings->mountpoint, FD_MOUNTPOINT,
					      strlen(FD_MOUNTPOINT)) != 0;
	front->started = (int64_t)(clock_wall_ms() / 1000);
	atomic_init(&front->stopped, false);
	files_init(&front->files, settings->tree, settings->streams,
			settings->counters);
	dirs_init(&front->dirs);
	parking_init(&front->parking);
	interrupts_init(&front->interrupts, &front->parking);
	housekeeper_init(&front->housekeeper, front);
	signals_init(&front->signals, front);
	if (front->settings.source == NULL ||
			front->settings.mountpoint == NULL) {
		front_destroy(front);
		return NULL;
	}
	return front;
}

static int make_session(struct front *front)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	CLEANUP_FREE char *options = options_text(front->settings.source,
			front->settings.max_read, front->settings.allow_other);

	if (options == NULL || fuse_opt_add_arg(&args, "shardfs") != 0 ||
			fuse_opt_add_arg(&args, "-o") != 0 ||
			fuse_opt_add_arg(&args, options) != 0) {
		fuse_opt_free_args(&args);
		return -ENOMEM;
	}
	front->session = fuse_session_new(
			&args, &ops_table, sizeof(ops_table), front);
	fuse_opt_free_args(&args);
	return front->session != NULL ? 0 : -EIO;
}

static int mount_session(
		struct front *front, char *message, size_t message_size)
{
	struct capture capture;
	char line[256];

	capture_begin(&capture);
	int error = make_session(front);
	if (error == 0 && fuse_session_mount(front->session,
					  front->settings.mountpoint) != 0) {
		error = -EIO;
	}
	capture_end(&capture, line, sizeof(line));
	if (error != 0) {
		(void)snprintf(message, message_size, "%s: cannot mount: %s",
				front->settings.mountpoint,
				line[0] != '\0' ? line : strerror(-error));
		return error;
	}
	fuse_set_log_func(on_fuse_log);
	front->device_known = front->mounted_here &&
			      device_read(front->settings.mountpoint,
					      &front->device) == 0;
	return 0;
}

int front_create(const struct front_settings *settings,
		struct front **out_front, char *message, size_t message_size)
{
	struct front *front = make_front(settings);
	int error = front == NULL ? -ENOMEM : 0;

	(void)snprintf(message, message_size, "%s: out of memory",
			settings->mountpoint);
	if (error == 0) {
		error = signals_block(&front->signals);
	}
	if (error == 0) {
		error = mount_session(front, message, message_size);
	}
	if (error != 0) {
		front_destroy(front);
		return error;
	}
	*out_front = front;
	return 0;
}

/* Whether what is mounted there is ours: after fusermount3 -u there is nothing
 * or what lies below, after an abort of the connection still our mount. */
static bool is_mounted(const struct front *front)
{
	struct device device;

	return front->device_known &&
	       device_read(front->settings.mountpoint, &device) == 0 &&
	       device.major == front->device.major &&
	       device.minor == front->device.minor;
}

static void take_mount_away(struct front *front)
{
	if (!is_mounted(front)) {
		return;
	}
	int error = unmount_lazily(front->settings.mountpoint);
	if (error != 0) {
		log_warn("cannot unmount error=%s", strerror(-error));
	}
}

static int serve(struct front *front)
{
	int error = interrupts_start(&front->interrupts);

	if (error == 0) {
		error = housekeeper_start(&front->housekeeper);
	}
	if (error == 0) {
		error = signals_start(&front->signals);
	}
	if (error == 0 && front->mounted_here) {
		error = ready_start(&front->ready, front);
	}
	if (error == 0) {
		/* Who was given a descriptor may be unable to open another. */
		error = loop_serve(front->session, front->settings.thread_count,
				front->mounted_here);
	}
	return error;
}

int front_run(struct front *front)
{
	int error = serve(front);

	signals_stop(&front->signals);
	front_stop_readers(front);
	take_mount_away(front);
	/* Completions use the session and the files. */
	(void)parking_wait_empty(&front->parking, FRONT_FOREVER_MS);
	housekeeper_stop(&front->housekeeper);
	interrupts_stop(&front->interrupts);
	/* Closes the device; there is no mount left for it to take away. */
	fuse_session_unmount(front->session);
	ready_join(&front->ready);
	return error;
}

void front_destroy(struct front *front)
{
	if (front == NULL) {
		return;
	}
	if (front->session != NULL) {
		fuse_session_unmount(front->session);
		fuse_session_destroy(front->session);
	}
	signals_finish(&front->signals);
	housekeeper_finish(&front->housekeeper);
	interrupts_finish(&front->interrupts);
	parking_finish(&front->parking);
	dirs_finish(&front->dirs);
	files_finish(&front->files);
	free((char *)front->settings.source);
	free((char *)front->settings.mountpoint);
	free(front);
}
