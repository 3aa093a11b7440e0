#include "fakes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cache/cache.h"
#include "cache/disk_tier.h"
#include "store/object.h"
#include "store/store.h"
#include "stream/stream.h"
#include "tree/tree.h"

#define HELD_MAX 1024

struct fakes fakes;

struct held {
	void *what;
	void (*complete)(void *what);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held held[HELD_MAX];
static size_t held_count;
static uint8_t pattern[FAKE_BIG_SIZE];
static struct object *objects[FAKE_RESTORED + 1];

uint8_t fakes_byte(uint64_t offset)
{
	return (uint8_t)(offset * 31 + offset / 4096);
}

void fakes_reset(void)
{
	memset(&fakes, 0, sizeof(fakes));
	held_count = 0;
	for (uint64_t i = 0; i < FAKE_BIG_SIZE; i++) {
		pattern[i] = fakes_byte(i);
	}
}

/* Complete now (0), or later, or now but as if by another thread. */
static int begin(void *what, void (*complete)(void *what))
{
	LOCK_SCOPE(&lock);
	if (!fakes.hold) {
		return 0;
	}
	if (fakes.complete_early || held_count == HELD_MAX) {
		complete(what);
		return -EINPROGRESS;
	}
	held[held_count++] = (struct held){what, complete};
	return -EINPROGRESS;
}

bool fakes_wait_held(size_t count)
{
	struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < 5000; i++) {
		{
			LOCK_SCOPE(&lock);
			if (held_count >= count) {
				return true;
			}
		}
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

void fakes_release(int error)
{
	struct held todo[HELD_MAX];
	size_t count;
	{
		LOCK_SCOPE(&lock);
		fakes.error = error;
		count = held_count;
		memcpy(todo, held, sizeof(held));
		held_count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		todo[i].complete(todo[i].what);
	}
}

static void fill(uint64_t inode, struct tree_attr *out)
{
	*out = (struct tree_attr){
			.inode = inode,
			.is_dir = inode == TREE_ROOT_INODE || inode == FAKE_DIR,
			.size = inode == FAKE_BIG || inode == FAKE_GONE
						? FAKE_BIG_SIZE
						: 0,
			.mtime = 1700000000,
			.valid_ms = FAKE_VALID_MS,
	};
}

static uint64_t find(uint64_t parent, const char *name)
{
	static const char *const names[] = {"big", "empty", "gone", "dir"};
	unsigned index = 0;

	if (parent == FAKE_DIR && sscanf(name, "e%u", &index) == 1) {
		return FAKE_FIRST_ENTRY + index;
	}
	for (size_t i = 0; parent == TREE_ROOT_INODE && i < 4; i++) {
		if (strcmp(name, names[i]) == 0) {
			return FAKE_BIG + i;
		}
	}
	return 0;
}

static void complete_lookup(void *what)
{
	struct tree_lookup *lookup = what;
	uint64_t inode = find(lookup->parent, lookup->name);

	lookup->error = fakes.error;
	if (lookup->error == 0 && inode == 0) {
		lookup->error = -ENOENT;
	}
	lookup->attr.valid_ms = FAKE_VALID_MS;
	if (lookup->error == 0) {
		fill(inode, &lookup->attr);
		fakes.lookups[inode] += 1;
	}
	if (fakes.hold) {
		lookup->on_done(lookup);
	}
}

int tree_lookup_start(struct tree *tree, struct tree_lookup *lookup)
{
	fakes.lookup_calls++;
	int error = begin(lookup, complete_lookup);
	if (error == 0) {
		complete_lookup(lookup);
	}
	return error;
}

void tree_forget(struct tree *tree, uint64_t inode, uint64_t count)
{
	fakes.lookups[inode] -= (int64_t)count;
}

int tree_getattr(struct tree *tree, uint64_t inode, struct tree_attr *out_attr)
{
	fill(inode, out_attr);
	return 0;
}

bool tree_is_archived(struct tree *tree, uint64_t inode)
{
	return inode == FAKE_ARCHIVED || inode == FAKE_RESTORED;
}

static void complete_restore(void *what)
{
	struct tree_restore *restore = what;

	restore->error = restore->inode == FAKE_RESTORED ? 0 : -EACCES;
	if (fakes.hold) {
		restore->on_done(restore);
	}
}

int tree_restore_start(struct tree *tree, struct tree_restore *restore)
{
	const int error = begin(restore, complete_restore);

	if (error == 0) {
		complete_restore(restore);
	}
	return error;
}

int tree_open(struct tree *tree, uint64_t inode, struct object **out_object)
{
	if (inode == FAKE_GONE) {
		return -ESTALE;
	}
	if (inode == FAKE_DIR || inode == TREE_ROOT_INODE) {
		return -EISDIR;
	}
	fakes.opens += 1;
	LOCK_SCOPE(&lock);
	if (objects[inode] == NULL) {
		struct tree_attr attr;
		fill(inode, &attr);
		objects[inode] = object_create(NULL, "prefix/big", "\"v1\"",
				attr.size, attr.mtime);
	}
	*out_object = object_ref(objects[inode]);
	return 0;
}

void tree_close(struct tree *tree, uint64_t inode)
{
	fakes.closes += 1;
}

int tree_mark_changed(struct tree *tree, uint64_t inode, uint64_t *out_parent,
		char **out_name)
{
	fakes.marked++;
	*out_parent = TREE_ROOT_INODE;
	*out_name = strdup("big");
	return 0;
}

struct tree_dir {
	uint64_t inode;
	size_t count;
	char name[16];
};

static void complete_opendir(void *what)
{
	struct tree_opendir *opendir = what;

	opendir->error = fakes.error;
	if (opendir->error == 0) {
		opendir->dir = calloc(1, sizeof(*opendir->dir));
		opendir->dir->inode = opendir->inode;
		opendir->dir->count = fakes.entry_count;
		fakes.open_dirs += 1;
	}
	if (fakes.hold) {
		opendir->on_done(opendir);
	}
}

int tree_opendir_start(struct tree *tree, struct tree_opendir *opendir)
{
	int error = begin(opendir, complete_opendir);

	if (error == 0) {
		complete_opendir(opendir);
	}
	return error;
}

void tree_dir_close(struct tree_dir *dir)
{
	fakes.open_dirs -= 1;
	free(dir);
}

size_t tree_dir_count(const struct tree_dir *dir)
{
	return dir->count;
}

uint64_t tree_dir_parent_inode(const struct tree_dir *dir)
{
	return TREE_ROOT_INODE;
}

int tree_dir_entry(struct tree_dir *dir, size_t index, const char **out_name,
		struct tree_attr *out_attr)
{
	(void)snprintf(dir->name, sizeof(dir->name), "e%04zu", index);
	*out_name = dir->name;
	fill(FAKE_FIRST_ENTRY + index, out_attr);
	return 0;
}

int tree_dir_lookup(
		struct tree_dir *dir, size_t index, struct tree_attr *out_attr)
{
	const uint64_t inode = FAKE_FIRST_ENTRY + index + fakes.newer;

	fill(inode, out_attr);
	fakes.lookups[inode] += 1;
	fakes.lookup_calls++;
	return 0;
}

struct stream_file {
	struct object *object;
};

int stream_file_open(struct stream_set *set, struct object *object,
		struct stream_file **out_file)
{
	*out_file = calloc(1, sizeof(**out_file));
	fakes.open_streams += 1;
	return 0;
}

void stream_file_close(struct stream_file *file)
{
	fakes.open_streams -= 1;
	free(file);
}

static void complete_read(void *what)
{
	struct cache_read *read = what;
	size_t first = read->length / 3;

	read->error = fakes.error;
	read->parts[0] = (struct iovec){pattern + read->offset, first};
	read->parts[1] = (struct iovec){
			pattern + read->offset + first, read->length - first};
	read->part_count = 2;
	if (fakes.hold) {
		read->on_done(read);
	}
}

int stream_read(struct stream_file *file, struct cache_read *read)
{
	fakes.read_calls += 1;
	fakes.unreleased_reads += 1;
	int error = begin(read, complete_read);
	if (error == 0) {
		complete_read(read);
	}
	return error;
}

void cache_read_release(struct cache_read *read)
{
	fakes.unreleased_reads -= 1;
}

uint64_t stream_file_cached_bytes(const struct stream_file *file)
{
	return 65536;
}

unsigned stream_set_sequential_percent(const struct stream_set *set)
{
	return 100;
}

void disk_tier_usage(struct disk_tier *tier, struct disk_usage *out_usage)
{
	*out_usage = (struct disk_usage){.limit_bytes = (uint64_t)1 << 30,
			.used_bytes = (uint64_t)1 << 30};
}

int disk_object_open(struct disk_tier *tier, struct object *object,
		struct disk_object **out_object)
{
	return -EIO;
}

void disk_object_close(struct disk_object *object)
{
}

uint64_t disk_object_bytes(const struct disk_object *object)
{
	return 0;
}

int store_url(const struct store *store, const char *key, struct strbuf *out)
{
	return strbuf_printf(out, "s3://bucket/%s", key);
}
