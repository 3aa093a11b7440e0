#include "fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "fetch/fetch.h"
#include "store/testing.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t completed = PTHREAD_COND_INITIALIZER;

static void make_tree(struct fixture *fixture, uint64_t ttl_ms)
{
	const struct tree_settings settings = {
			.store = fixture->store,
			.fetch = fixture->fetch,
			.disk = fixture->disk,
			.counters = &fixture->counters,
			.metadata_ttl_ms = ttl_ms,
	};
	cr_assert_eq(tree_create(&settings, &fixture->tree), 0);
}

void fixture_start(struct fixture *fixture, const char *prefix, uint64_t ttl_ms)
{
	cr_assert_eq(memory_store_create("memory://b", prefix, &fixture->store),
			0);
	const struct fetch_settings fetch_settings = {
			.counters = &fixture->counters,
			.part_size = 8388608,
			.max_connections = 64,
			.timeout_ms = 60000,
			.retries = 1,
	};
	cr_assert_eq(fetch_create(&fetch_settings, &fixture->fetch), 0);
	make_tree(fixture, ttl_ms);
}

void fixture_restart(struct fixture *fixture, uint64_t ttl_ms)
{
	tree_destroy(fixture->tree);
	make_tree(fixture, ttl_ms);
}

void fixture_stop(struct fixture *fixture)
{
	tree_destroy(fixture->tree);
	fetch_destroy(fixture->fetch);
	store_destroy(fixture->store);
}

void fixture_put(struct fixture *fixture, const char *key)
{
	cr_assert_eq(memory_store_put_pattern(fixture->store, key, 10, 1, NULL),
			0);
}

struct waiting_lookup {
	struct tree_lookup lookup;
	bool done;
};

static void on_lookup(struct tree_lookup *lookup)
{
	LOCK_SCOPE(&lock);
	((struct waiting_lookup *)lookup)->done = true;
	pthread_cond_broadcast(&completed);
}

int fixture_lookup(struct fixture *fixture, uint64_t parent, const char *name,
		struct tree_attr *out_attr)
{
	struct waiting_lookup waiting = {
			.lookup = {.parent = parent,
					.name = name,
					.on_done = on_lookup},
	};
	if (tree_lookup_start(fixture->tree, &waiting.lookup) == -EINPROGRESS) {
		LOCK_SCOPE(&lock);
		while (!waiting.done) {
			pthread_cond_wait(&completed, &lock);
		}
	}
	if (out_attr != NULL) {
		*out_attr = waiting.lookup.attr;
	}
	return waiting.lookup.error;
}

int fixture_walk(struct fixture *fixture, const char *path,
		struct tree_attr *out_attr)
{
	char copy[1200];
	snprintf(copy, sizeof(copy), "%s", path);
	struct tree_attr attr = {.inode = TREE_ROOT_INODE};
	char *rest = copy;
	char *name = NULL;
	int error = 0;
	while (error == 0 && (name = strsep(&rest, "/")) != NULL) {
		error = fixture_lookup(fixture, attr.inode, name, &attr);
	}
	if (out_attr != NULL) {
		*out_attr = attr;
	}
	return error;
}

uint64_t fixture_inode(struct fixture *fixture, const char *path)
{
	struct tree_attr attr;
	cr_assert_eq(fixture_walk(fixture, path, &attr), 0, "%s", path);
	return attr.inode;
}

struct waiting_opendir {
	struct tree_opendir opendir;
	bool done;
};

static void on_opendir(struct tree_opendir *opendir)
{
	LOCK_SCOPE(&lock);
	((struct waiting_opendir *)opendir)->done = true;
	pthread_cond_broadcast(&completed);
}

int fixture_opendir(struct fixture *fixture, uint64_t inode,
		struct tree_dir **out_dir)
{
	struct waiting_opendir waiting = {
			.opendir = {.inode = inode, .on_done = on_opendir},
	};
	if (tree_opendir_start(fixture->tree, &waiting.opendir) ==
			-EINPROGRESS) {
		LOCK_SCOPE(&lock);
		while (!waiting.done) {
			pthread_cond_wait(&completed, &lock);
		}
	}
	*out_dir = waiting.opendir.dir;
	return waiting.opendir.error;
}

const char *fixture_ls(struct fixture *fixture, uint64_t inode)
{
	static char text[65536];
	struct tree_dir *dir = NULL;
	const int error = fixture_opendir(fixture, inode, &dir);
	if (error < 0) {
		return strerrorname_np(-error);
	}
	text[0] = '\0';
	for (size_t i = 0; i < tree_dir_count(dir); i++) {
		const char *name = NULL;
		struct tree_attr attr;
		cr_assert_eq(tree_dir_entry(dir, i, &name, &attr), 0);
		strcat(text, i == 0 ? "" : " ");
		strcat(text, name);
		strcat(text, attr.is_dir ? "/" : "");
	}
	tree_dir_close(dir);
	return text;
}

const char *fixture_asked(struct fixture *fixture)
{
	static char text[65536];
	struct memory_store_record record;
	size_t length = 0;
	text[0] = '\0';
	for (size_t i = 0; memory_store_get_record(
					   fixture->store, i, &record) == 0;
			i++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length,
				"%s%c:%s", i == 0 ? "" : " ", record.kind,
				record.key);
	}
	memory_store_clear_records(fixture->store);
	return text;
}
