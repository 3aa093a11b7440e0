/*
 * Lookups, opens, forgets, directories, refreshes and changes from several
 * threads while listings run out. What is always there must never seem absent,
 * d_ino must fit, and in the end nothing but the root is known.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "fetch/fetch.h"
#include "store/object.h"
#include "store/store.h"
#include "store/testing.h"
#include "tree/tree.h"

#define THREADS 8
#define ROUNDS 1500
#define DIRS 4
#define FILES 40
#define TTL_MS 50

static struct counters counters;
static struct store *store;
static struct fetch *fetch;
static struct tree *tree;
static atomic_uint failures;

static void check(bool good, const char *what, int value)
{
	if (!good && atomic_fetch_add(&failures, 1) < 10) {
		fprintf(stderr, "stress_tree: %s: %d\n", what, value);
	}
}

struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
};

struct waiting_lookup {
	struct tree_lookup lookup;
	struct waiter *waiter;
};

struct waiting_opendir {
	struct tree_opendir opendir;
	struct waiter *waiter;
};

static void wake(struct waiter *waiter)
{
	LOCK_SCOPE(&waiter->lock);
	waiter->done = true;
	pthread_cond_signal(&waiter->changed);
}

static void wait_done(struct waiter *waiter)
{
	LOCK_SCOPE(&waiter->lock);
	while (!waiter->done) {
		pthread_cond_wait(&waiter->changed, &waiter->lock);
	}
	waiter->done = false;
}

static void on_lookup(struct tree_lookup *lookup)
{
	wake(((struct waiting_lookup *)lookup)->waiter);
}

static void on_opendir(struct tree_opendir *opendir)
{
	wake(((struct waiting_opendir *)opendir)->waiter);
}

static int look_up(struct waiter *waiter, uint64_t parent, const char *name,
		struct tree_attr *out_attr)
{
	struct waiting_lookup waiting = {
			.lookup = {.parent = parent,
					.name = name,
					.on_done = on_lookup},
			.waiter = waiter,
	};
	if (tree_lookup_start(tree, &waiting.lookup) == -EINPROGRESS) {
		wait_done(waiter);
	}
	*out_attr = waiting.lookup.attr;
	return waiting.lookup.error;
}

static void use_file(const struct tree_attr *attr, unsigned random)
{
	struct object *object = NULL;
	const int error = tree_open(tree, attr->inode, &object);
	check(error == 0 || error == -ESTALE, "open", error);
	if (error < 0) {
		return;
	}
	check(object->size == attr->size, "size", (int)object->size);
	if (random % 16 == 0) {
		uint64_t parent = 0;
		char *name = NULL;
		if (tree_mark_changed(tree, attr->inode, &parent, &name) == 0) {
			free(name);
		}
	}
	object_unref(object);
	tree_close(tree, attr->inode);
}

static void walk(struct waiter *waiter, unsigned random)
{
	char name[32];
	struct tree_attr dir;
	struct tree_attr file;
	snprintf(name, sizeof(name), "d%u", random % DIRS);
	int error = look_up(waiter, TREE_ROOT_INODE, name, &dir);
	check(error == 0, "directory", error);
	if (error < 0) {
		return;
	}
	snprintf(name, sizeof(name), "f%u", random / DIRS % FILES);
	error = look_up(waiter, dir.inode, name, &file);
	check(error == 0, "file", error);
	if (error == 0) {
		use_file(&file, random);
		tree_forget(tree, file.inode, 1);
	}
	error = look_up(waiter, dir.inode, "never", &file);
	check(error == -ENOENT, "absence", error);
	tree_forget(tree, dir.inode, 1);
}

static void list(struct waiter *waiter, uint64_t inode)
{
	struct waiting_opendir waiting = {
			.opendir = {.inode = inode, .on_done = on_opendir},
			.waiter = waiter,
	};
	if (tree_opendir_start(tree, &waiting.opendir) == -EINPROGRESS) {
		wait_done(waiter);
	}
	check(waiting.opendir.error == 0, "opendir", waiting.opendir.error);
	if (waiting.opendir.error < 0) {
		return;
	}
	struct tree_dir *dir = waiting.opendir.dir;
	for (size_t i = 0; i < tree_dir_count(dir); i++) {
		const char *name = NULL;
		struct tree_attr entry;
		struct tree_attr plus;
		const int error = tree_dir_entry(dir, i, &name, &entry);
		check(error == 0, "entry", error);
		check(entry.inode >= TREE_FIRST_INODE, "number", (int)i);
		if (tree_dir_lookup(dir, i, &plus) == 0) {
			tree_forget(tree, plus.inode, 1);
		}
	}
	tree_dir_close(dir);
}

static void change_store(unsigned random)
{
	char key[64];
	snprintf(key, sizeof(key), "d%u/f%u", random % DIRS,
			random / DIRS % FILES);
	(void)memory_store_put_pattern(store, key, 10 + random % 5, 1, NULL);
}

static void *worker(void *context)
{
	struct waiter waiter = {
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.changed = PTHREAD_COND_INITIALIZER,
	};
	unsigned seed = (unsigned)(size_t)context;
	for (int i = 0; i < ROUNDS; i++) {
		const unsigned random = (unsigned)rand_r(&seed);
		const unsigned action = random >> 20 & 31;
		if (action == 0) {
			(void)tree_refresh(tree, random % 2 == 0 ? "" : "d1");
		} else if (action == 1) {
			change_store(random);
		} else if (action < 5) {
			clock_advance_ms(TTL_MS / 2);
		} else if (action < 8) {
			list(&waiter, TREE_ROOT_INODE);
		} else {
			walk(&waiter, random);
		}
	}
	return NULL;
}

int main(void)
{
	const struct fetch_settings fetch_settings = {
			.counters = &counters,
			.part_size = 8388608,
			.max_connections = 64,
			.timeout_ms = 100000000,
			.retries = 3,
	};
	if (memory_store_create("memory://b", "", &store) < 0 ||
			fetch_create(&fetch_settings, &fetch) < 0) {
		return 1;
	}
	const struct tree_settings settings = {
			.store = store,
			.fetch = fetch,
			.counters = &counters,
			.metadata_ttl_ms = TTL_MS,
	};
	if (tree_create(&settings, &tree) < 0) {
		return 1;
	}
	for (unsigned i = 0; i < DIRS * FILES; i++) {
		change_store(i);
	}
	memory_store_set_page(store, 7);
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	const uint64_t inodes = counters_get(&counters.inodes);
	check(inodes == 1, "inodes left", (int)inodes);
	tree_destroy(tree);
	fetch_destroy(fetch);
	store_destroy(store);
	return atomic_load(&failures) == 0 ? 0 : 1;
}
