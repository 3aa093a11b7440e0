#include "main/mount.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/cache.h"
#include "cache/disk_tier.h"
#include "fetch/fetch.h"
#include "front/front.h"
#include "main/background.h"
#include "main/commands.h"
#include "main/defaults.h"
#include "main/metrics_file.h"
#include "main/mount_check.h"
#include "main/options.h"
#include "mount_private.h"
#include "store/store.h"
#include "stream/stream.h"
#include "tree/tree.h"

#define LOG_MODULE "main"
#include "base/log.h"

#define FUSE_CONF "/etc/fuse.conf"
#define MAX_READ ((uint64_t)1 << 20)
#define FRONT_THREADS 16
/* For what the cache still has to write at the end. */
#define FLUSH_MS 3000
#define METRICS_MS 15000

static int open_log(struct mount *mount)
{
	const struct mount_plan *plan = mount->plan;
	const struct options *options = plan->options;
	enum log_level level = plan->debug ? LOG_DEBUG
					   : (enum log_level)options->log_level;
	enum log_sink sink = options->log_file != NULL ? LOG_SINK_FILE
			     : plan->foreground	       ? LOG_SINK_STDERR
						       : LOG_SINK_SYSLOG;
	int error = log_open(sink, level, options->log_file);

	if (error != 0) {
		(void)snprintf(mount->message, sizeof(mount->message),
				"log_file %s: %s", options->log_file,
				strerror(-error));
	}
	return error;
}

static int check_place(struct mount *mount)
{
	const struct mount_plan *plan = mount->plan;
	bool not_empty = false;
	int error = 0;

	if (plan->options->allow_other) {
		error = mount_check_allow_other(getuid() == 0, FUSE_CONF,
				mount->message, sizeof(mount->message));
	}
	if (error != 0 || mount_check_is_descriptor(plan->mountpoint)) {
		return error;
	}
	error = mount_check_source(plan->source, plan->mountpoint,
			mount->message, sizeof(mount->message));
	if (error != 0) {
		return error;
	}
	error = mount_check_directory(plan->mountpoint, &not_empty,
			mount->message, sizeof(mount->message));
	if (error == 0 && not_empty) {
		mount_note(mount,
				"%s is not empty; its files are hidden until "
				"the unmount",
				plan->mountpoint);
	}
	if (error != 0) {
		return error;
	}
	return mount_check_device(mount->message, sizeof(mount->message));
}

static int read_prices(struct mount *mount)
{
	const char *path = mount->plan->options->price_table;

	prices_defaults(&mount->prices);
	if (path == NULL) {
		return 0;
	}
	return prices_read(path, &mount->prices, mount->message,
			sizeof(mount->message));
}

/* A room that has no words of its own for its failure. */
static int name_failure(struct mount *mount, const char *what, int error)
{
	if (error != 0) {
		(void)snprintf(mount->message, sizeof(mount->message), "%s: %s",
				what, strerror(-error));
	}
	return error;
}

static int open_cache(struct mount *mount)
{
	const struct options *options = mount->plan->options;

	mount->memory_bytes =
			options->memory_bytes != 0
					? options->memory_bytes
					: defaults_memory_bytes(
							  defaults_cgroup_limit(
									  ""));
	int error = mount_cache_open(mount);

	if (error != 0) {
		return error;
	}
	const struct cache_settings settings = {
			.fetch = mount->client.fetch,
			.counters = &mount->counters,
			.memory_bytes = mount->memory_bytes,
			.disk = mount->disk,
	};

	return name_failure(mount, "memory for the cache",
			cache_create(&settings, &mount->cache));
}

/* What is known from it may save the question whether the source is there. */
static int open_old_cache(struct mount *mount)
{
	return mount_cache_is_new(mount) ? 0 : open_cache(mount);
}

static int open_new_cache(struct mount *mount)
{
	if (mount->cache != NULL) {
		return 0;
	}
	int error = open_cache(mount);

	if (error == 0 && mount->disk != NULL) {
		tree_use_disk(mount->tree, mount->disk);
	}
	return error;
}

static int open_tree(struct mount *mount)
{
	const struct tree_settings settings = {
			.store = mount->client.store,
			.fetch = mount->client.fetch,
			.disk = mount->disk,
			.counters = &mount->counters,
			.metadata_ttl_ms =
					mount->plan->options->metadata_ttl_ms,
	};

	return name_failure(
			mount, "tree", tree_create(&settings, &mount->tree));
}

static int open_streams(struct mount *mount)
{
	const struct options *options = mount->plan->options;
	const struct stream_settings settings = {
			.cache = mount->cache,
			.counters = &mount->counters,
			.max_window = options->max_window,
			.part_size = options->part_size,
			.memory_bytes = mount->memory_bytes,
	};

	return name_failure(mount, "streams",
			stream_set_create(&settings, &mount->streams));
}

static void on_ready(void *context)
{
	mount_report_ready(context);
}

/* Readers get their answer before the transfers are torn down. */
static void on_stop(void *context)
{
	struct mount *mount = context;

	cache_stop(mount->cache, -EIO);
	fetch_stop(mount->client.fetch, -EIO);
}

static int open_front(struct mount *mount)
{
	const struct mount_plan *plan = mount->plan;
	const struct options *options = plan->options;
	const struct front_settings settings = {
			.tree = mount->tree,
			.streams = mount->streams,
			.store = mount->client.store,
			.counters = &mount->counters,
			.disk = mount->disk,
			.source = plan->shown,
			.mountpoint = plan->mountpoint,
			.max_read = MAX_READ,
			.uid = options->uid,
			.gid = options->gid,
			.file_mode = options->file_mode,
			.dir_mode = options->dir_mode,
			.allow_other = options->allow_other,
			.thread_count = FRONT_THREADS,
			.render_stats = mount_render_stats,
			.render_metrics = mount_render_metrics,
			.on_ready = on_ready,
			.on_stop = on_stop,
			.context = mount,
	};

	return front_create(&settings, &mount->front, mount->message,
			sizeof(mount->message));
}

static int open_metrics(struct mount *mount)
{
	const struct metrics_file_settings settings = {
			.path = mount->plan->options->metrics_file,
			.interval_ms = METRICS_MS,
			.render = mount_render_metrics,
			.context = mount,
	};

	if (settings.path == NULL) {
		return 0;
	}
	int error = metrics_file_create(&settings, &mount->metrics);

	if (error != 0) {
		(void)snprintf(mount->message, sizeof(mount->message),
				"metrics_file %s: %s", settings.path,
				strerror(-error));
	}
	return error;
}

static void describe(struct mount *mount)
{
	struct strbuf text;

	strbuf_init(&text, MOUNT_MESSAGE_SIZE);
	if (store_describe(mount->client.store, &text) == 0) {
		log_info("starting version=%s source=%s %s", SHARDFS_VERSION,
				mount->plan->source, text.text);
	}
	strbuf_finish(&text);
	if (mount->plan->verbose && mount->plan->foreground) {
		client_describe(&mount->client);
	}
}

static int open_client(struct mount *mount)
{
	int error = client_open(mount->plan->source, mount->plan->options,
			&mount->counters, &mount->client, mount->message,
			sizeof(mount->message));

	if (error == 0) {
		describe(mount);
	}
	return error;
}

/* Checks first, without threads; then bottom up, and the probe before the
 * mount point is taken. */
static int open_all(struct mount *mount)
{
	int (*const steps[])(struct mount *) = {open_log, check_place,
			read_prices, open_client, open_old_cache, open_tree,
			mount_probe, open_new_cache, open_streams, open_metrics,
			open_front};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int error = steps[i](mount);

		if (error != 0) {
			return error;
		}
	}
	return 0;
}

/* Top down. Each destroy takes NULL for a room that was never opened. */
static void close_all(struct mount *mount)
{
	/* What still asks the store would hold the rooms above. */
	if (mount->client.fetch != NULL) {
		fetch_stop(mount->client.fetch, -EIO);
	}
	front_destroy(mount->front);
	metrics_file_destroy(mount->metrics);
	stream_set_destroy(mount->streams);
	tree_destroy(mount->tree);
	cache_destroy(mount->cache, FLUSH_MS);
	client_close(&mount->client);
	disk_tier_close(mount->disk);
	strbuf_finish(&mount->odd);
	log_close();
}

static int serve(struct mount *mount)
{
	int error = front_run(mount->front);

	if (error != 0) {
		log_error("mount ended error=%s", strerror(-error));
	}
	if (mount->background->told) {
		return error == 0 ? STATUS_DONE : STATUS_FAILED;
	}
	background_report(mount->background, STATUS_FAILED, NULL,
			"shardfs: unmounted before the mount was ready");
	return STATUS_FAILED;
}

static int fail(struct mount *mount, int error)
{
	char line[MOUNT_MESSAGE_SIZE + 16];
	int status = error == -EINVAL ? STATUS_USAGE : STATUS_FAILED;

	(void)snprintf(line, sizeof(line), "shardfs: %s", mount->message);
	background_report(mount->background, status, NULL, line);
	return status;
}

int mount_run(const struct mount_plan *plan, struct background *background)
{
	struct mount mount = {
			.plan = plan,
			.background = background,
			.started_ms = clock_monotonic_ms(),
	};

	strbuf_init(&mount.odd, MOUNT_MESSAGE_SIZE);
	int error = open_all(&mount);
	int status = error == 0 ? serve(&mount) : fail(&mount, error);

	close_all(&mount);
	return status;
}
