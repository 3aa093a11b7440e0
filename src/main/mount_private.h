#ifndef MAIN_MOUNT_PRIVATE_H
#define MAIN_MOUNT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "base/strbuf.h"
#include "main/client.h"
#include "main/mount.h"
#include "main/prices.h"

#define MOUNT_MESSAGE_SIZE 2048

/* One mount, from its checks to its end. Everything is set before the front
 * runs; afterwards only the counters change. */
struct mount {
	const struct mount_plan *plan;
	struct background *background;
	struct counters counters;
	struct prices prices;
	struct client client;
	struct disk_tier *disk; /* NULL: memory only. */
	struct cache *cache;
	struct tree *tree;
	struct stream_set *streams;
	struct front *front;
	struct metrics_file *metrics; /* NULL: not asked for. */
	uint64_t memory_bytes;
	uint64_t started_ms;
	struct strbuf odd; /* What the second line says, joined by "; ". */
	char message[MOUNT_MESSAGE_SIZE]; /* Of the failure. */
};

/* Adds to what the second line says. */
void mount_note(struct mount *mount, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* mount_cache.c: opens the disk tier as the options or the defaults say. */
int mount_cache_open(struct mount *mount);
/* Whether there is no cache yet where it would be: nothing is known from it,
 * and a mount that fails should not leave one. */
bool mount_cache_is_new(const struct mount *mount);

/* mount_probe.c: asks whether the source can be shown, as long as mount_wait
 * says. */
int mount_probe(struct mount *mount);

/* mount_report.c: the texts of .shardfs, and the lines of a success. */
int mount_render_stats(void *context, struct strbuf *out);
int mount_render_metrics(void *context, struct strbuf *out);
void mount_report_ready(struct mount *mount);

#endif
