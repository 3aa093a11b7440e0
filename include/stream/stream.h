#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct cache;
struct cache_read;
struct counters;
struct object;

/*
 * Finds the sequential streams among the reads of a file and reads ahead of
 * each, with a window that fits. Up to 16 streams a file, shared by all handles
 * and processes. Decisions are in detector.h and window.h; bytes are the
 * cache's. Nothing is read ahead but by a read: a stream that is no longer read
 * asks for nothing.
 */
struct stream_set;
struct stream_file;

struct stream_settings {
	struct cache *cache;	   /* Borrowed. */
	struct counters *counters; /* Borrowed. */
	uint64_t max_window;	   /* Bytes of read-ahead of one stream. */
	uint64_t part_size;	   /* Largest request. */
	uint64_t memory_bytes;	   /* Shared by all streams of the mount. */
};

int stream_set_create(const struct stream_settings *settings,
		struct stream_set **out_set);
void stream_set_destroy(struct stream_set *set);

/* One stream_file for an open inode, whoever has it open. -ENOMEM. */
int stream_file_open(struct stream_set *set, struct object *object,
		struct stream_file **out_file);
void stream_file_close(struct stream_file *file);

/* As cache_read_start, with read-ahead; release with cache_read_release. The
 * file may be closed once on_done has come, or this returned 0. */
int stream_read(struct stream_file *file, struct cache_read *read);

/* Bytes of it on disk now. */
uint64_t stream_file_cached_bytes(const struct stream_file *file);

/* Share of the recent reads that continued a stream, in percent: for the
 * kernel's read-ahead setting. 100 before any read. */
unsigned stream_set_sequential_percent(const struct stream_set *set);

#endif
