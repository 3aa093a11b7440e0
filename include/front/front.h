#ifndef FRONT_FRONT_H
#define FRONT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct counters;
struct disk_tier;
struct stream_set;
struct tree;
struct store;
struct strbuf;

/*
 * Speaks FUSE: one reply per request. A request that must wait is parked and
 * answered by the thread that completes it.
 */
struct front;

struct front_settings {
	struct tree *tree; /* Borrowed, all of these. */
	struct stream_set *streams;
	struct store *store;
	struct counters *counters;
	struct disk_tier *disk; /* NULL: none. */
	const char *source;	/* fsname, letter for letter. */
	const char *mountpoint; /* Absolute, or /dev/fd/N. */
	uint64_t max_read;
	uid_t uid;
	gid_t gid;
	mode_t file_mode, dir_mode;
	bool allow_other;
	size_t thread_count;
	/* Text of .shardfs/stats (JSON) and .shardfs/metrics (Prometheus). */
	int (*render_stats)(void *context, struct strbuf *out);
	int (*render_metrics)(void *context, struct strbuf *out);
	/* Called once, when the kernel's INIT was answered, on a thread of
	 * front's. */
	void (*on_ready)(void *context);
	/* Called once, on SIGTERM, SIGINT or SIGHUP before anything else, or
	 * when the mount ended by itself: every lookup, opendir and read that
	 * waits, and any that still comes, ends with an error soon. Must not
	 * wait for them. */
	void (*on_stop)(void *context);
	void *context;
};

/*
 * Makes the session and mounts; that the mount point is a free directory is
 * for the caller to check. Blocks SIGTERM, SIGINT and SIGHUP in the calling
 * thread: front_run answers them. On failure `message` has one line.
 */
int front_create(const struct front_settings *settings,
		struct front **out_front, char *message, size_t message_size);
/*
 * Serves until unmounted or told to stop by a signal; then unmounts, lazily if
 * busy. 0, or a negative errno. Called once, by the thread that made it. After
 * a signal SIGALRM ends the process 5 s later, whatever hangs then.
 */
int front_run(struct front *front);
/* Before the tree and the streams: it closes what was left open. */
void front_destroy(struct front *front);

/* "3.17.2 (static, passthrough capable)": for --version. */
const char *front_fuse_version(void);

#endif
