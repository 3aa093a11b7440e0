#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/store/file_store_private.h"
#include "base/cleanup.h"
#include "store/object.h"

static char dir[] = "/tmp/shardfs-file-XXXXXX";
static struct store *store;

/* What the newest call gave. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool done;
static int error;
static struct object *object;
static char names[4096];
static char token[256];
static char data[1 << 20];
static size_t data_length;

static void finish(const struct store_outcome *outcome)
{
	LOCK_SCOPE(&lock);
	error = outcome->error;
	done = true;
	pthread_cond_signal(&changed);
}

static void wait_done(void)
{
	LOCK_SCOPE(&lock);
	while (!done) {
		pthread_cond_wait(&changed, &lock);
	}
	done = false;
}

static void on_stat(void *context, const struct store_outcome *outcome,
		struct object *found)
{
	if (found != NULL) {
		object_unref(object);
		object = object_ref(found);
	}
	finish(outcome);
}

static void on_list(void *context, const struct store_outcome *outcome,
		const struct store_page *page)
{
	names[0] = '\0';
	token[0] = '\0';
	for (size_t i = 0; page != NULL && i < page->entry_count; i++) {
		strcat(names, page->entries[i].key);
		strcat(names, page->entries[i].is_prefix ? "| " : " ");
	}
	if (page != NULL && page->next_token != NULL) {
		strcpy(token, page->next_token);
	}
	finish(outcome);
}

static int on_data(void *context, uint64_t offset, const void *bytes,
		size_t length)
{
	memcpy(data + data_length, bytes, length);
	data_length += length;
	return 0;
}

static void on_get(void *context, const struct store_outcome *outcome)
{
	finish(outcome);
}

static const struct store_callbacks_stat stat_callbacks = {.on_done = on_stat};
static const struct store_callbacks_list list_callbacks = {.on_done = on_list};
static const struct store_callbacks_get get_callbacks = {
		.on_data = on_data,
		.on_done = on_get,
};

static int do_stat(const char *key)
{
	cr_assert_eq(store_stat(store, key, &stat_callbacks, NULL, NULL), 0);
	wait_done();
	return error;
}

static const char *do_list(const char *prefix, const char *after,
		bool recursive, uint32_t max_keys)
{
	const struct store_list_args args = {
			.prefix = prefix,
			.token = after,
			.recursive = recursive,
			.max_keys = max_keys,
	};
	cr_assert_eq(store_list(store, &args, &list_callbacks, NULL, NULL), 0);
	wait_done();
	return names;
}

static int do_get(uint64_t offset, uint64_t length)
{
	data_length = 0;
	cr_assert_eq(store_get(store, object, offset, length, &get_callbacks,
				     NULL, NULL),
			0);
	wait_done();
	return error;
}

static const char *path_of(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Written long ago, so that it is settled. */
static void write_file(const char *name, const char *text)
{
	CLEANUP_CLOSE int fd =
			open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	const struct timespec times[2] = {{1000000000, 5}, {1000000000, 5}};
	cr_assert_eq(futimens(fd, times), 0);
}

static void make_dir(const char *name)
{
	cr_assert_eq(mkdir(path_of(name), 0700), 0);
}

static void make_link(const char *target, const char *name)
{
	cr_assert_eq(symlink(target, path_of(name)), 0);
}

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(file_store_create(dir, &store), 0);
}

static void teardown(void)
{
	store_destroy(store);
	object_unref(object);
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(file_store, .init = setup, .fini = teardown);

Test(file_store, is_made_of_a_directory_only)
{
	struct store *other = NULL;
	write_file("f", "x");
	cr_expect_eq(file_store_create(path_of("f"), &other), -ENOTDIR);
	cr_expect_eq(file_store_create(path_of("none"), &other), -ENOENT);
	cr_expect_str_eq(store_prefix(store), "");
	cr_expect_eq(strncmp(store_name(store), "file:///", 8), 0);
}

Test(file_store, stat_tells_files_and_hides_all_else)
{
	write_file("f", "hello");
	make_dir("d");
	cr_assert_eq(mkfifo(path_of("p"), 0600), 0);
	cr_assert_eq(do_stat("f"), 0);
	cr_expect_eq(object->size, 5);
	cr_expect_eq(object->mtime, 1000000000);
	cr_expect(!object->etag_strong);
	cr_expect(object->cacheable);
	const char *absent[] = {"d", "d/", "p", "g", "f/", "f/x", "../etc",
			"d/../f", "./f", "/f", "d//f", ""};
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		cr_expect_eq(do_stat(absent[i]), -ENOENT, "%s", absent[i]);
	}
}

Test(file_store, a_fresh_or_future_version_is_not_cached)
{
	write_file("f", "x");
	cr_assert_eq(utimensat(AT_FDCWD, path_of("f"), NULL, 0), 0);
	cr_assert_eq(do_stat("f"), 0);
	cr_expect(!object->cacheable);
	const struct timespec times[2] = {{4000000000, 0}, {4000000000, 0}};
	cr_assert_eq(utimensat(AT_FDCWD, path_of("f"), times, 0), 0);
	cr_assert_eq(do_stat("f"), 0);
	cr_expect(!object->cacheable);
}

Test(file_store, links_are_followed_only_inside)
{
	write_file("f", "hello");
	make_dir("d");
	write_file("d/g", "x");
	make_link("f", "inside");
	make_link("../f", "d/up");
	make_link("/etc/passwd", "absolute");
	make_link("../../etc/passwd", "outside");
	make_link("loop", "loop");
	make_link("none", "dangling");
	make_link("d", "dir");
	make_link("..", "d/above");
	cr_expect_eq(do_stat("inside"), 0);
	cr_expect_eq(object->size, 5);
	cr_expect_eq(do_stat("absolute"), -ENOENT);
	cr_expect_eq(do_stat("outside"), -ENOENT);
	cr_expect_eq(do_stat("loop"), -ENOENT);
	cr_expect_str_eq(do_list("", NULL, false, 0), "d/| dir/| f inside ");
	cr_expect_str_eq(do_list("d/", NULL, false, 0), "d/g d/up ");
	cr_expect_str_eq(do_list("", NULL, true, 0),
			"d/g d/up dir/g dir/up f inside ");
}

Test(file_store, list_is_in_byte_order_with_the_delimiter)
{
	make_dir("b");
	make_dir("b/c");
	write_file("b/x", "");
	write_file("b/c/y", "");
	write_file("b-", "");
	write_file("b0", "");
	write_file("\xff", "");
	cr_expect_str_eq(do_list("", NULL, false, 0), "b- b/| b0 \xff ");
	cr_expect_str_eq(do_list("b/", NULL, false, 0), "b/c/| b/x ");
	cr_expect_str_eq(do_list("b", NULL, false, 0), "b- b/| b0 ");
	cr_expect_str_eq(do_list("b/c", NULL, false, 0), "b/c/| ");
	cr_expect_str_eq(do_list("", NULL, true, 0), "b- b/c/y b/x b0 \xff ");
	cr_expect_str_eq(do_list("b/c", NULL, true, 0), "b/c/y ");
	cr_expect_str_eq(do_list("none/", NULL, false, 0), "");
	cr_expect_eq(error, 0);
	cr_expect_str_eq(do_list("b//", NULL, false, 0), "");
	cr_expect_str_eq(do_list("../", NULL, false, 0), "");
}

Test(file_store, an_empty_directory_shows_as_a_marker)
{
	make_dir("d");
	make_dir("d/e");
	cr_expect_str_eq(do_list("d/e/", NULL, false, 0), "d/e/ ");
	cr_expect_str_eq(do_list("d/", NULL, false, 0), "d/e/| ");
	cr_expect_str_eq(do_list("", NULL, true, 0), "d/e/ ");
	cr_expect_str_eq(do_list("d/e/x", NULL, false, 0), "");
}

Test(file_store, pages_join_without_gap_or_repeat)
{
	make_dir("b");
	make_dir("b/c");
	make_dir("e");
	write_file("a", "");
	write_file("b/c/1", "");
	write_file("b/c/2", "");
	write_file("b/d", "");
	write_file("z", "");
	for (int recursive = 0; recursive < 2; recursive++) {
		for (uint32_t page = 1; page < 8; page++) {
			char all[256] = "";
			char after[256] = "";
			strcat(all, do_list("", NULL, recursive, page));
			while (token[0] != '\0') {
				strcpy(after, token);
				strcat(all, do_list("", after, recursive,
							    page));
			}
			cr_expect_str_eq(all, recursive ? "a b/c/1 b/c/2 b/d "
							  "e/ z "
							: "a b/| e/| z ");
		}
	}
}

Test(file_store, get_gives_exactly_the_range)
{
	char text[700000];
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		text[i] = (char)('a' + i % 23);
	}
	text[sizeof(text) - 1] = '\0';
	write_file("f", text);
	cr_assert_eq(do_stat("f"), 0);
	cr_assert_eq(do_get(12345, 600000), 0);
	cr_assert_eq(data_length, 600000);
	cr_expect_eq(memcmp(data, text + 12345, 600000), 0);
}

Test(file_store, get_of_another_version_is_stale)
{
	write_file("f", "hello");
	cr_assert_eq(do_stat("f"), 0);
	cr_assert_eq(utimensat(AT_FDCWD, path_of("f"), NULL, 0), 0);
	cr_expect_eq(do_get(0, 5), -ESTALE);
	write_file("f", "hell");
	cr_expect_eq(do_get(0, 5), -ESTALE);
	cr_assert_eq(unlink(path_of("f")), 0);
	cr_expect_eq(do_get(0, 5), -ESTALE);
	cr_assert_eq(mkfifo(path_of("f"), 0600), 0);
	cr_expect_eq(do_get(0, 5), -ESTALE);
	cr_expect_eq(data_length, 0);
}

Test(file_store, a_root_that_went_away_is_an_error_not_absence)
{
	char away[600];
	write_file("f", "hello");
	cr_assert_eq(do_stat("f"), 0);
	snprintf(away, sizeof(away), "%s.away", dir);
	cr_assert_eq(rename(dir, away), 0);
	cr_expect_eq(do_stat("f"), -EIO);
	cr_expect_eq(do_stat("g"), -EIO);
	do_list("", NULL, false, 0);
	cr_expect_eq(error, -EIO);
	do_list("none/", NULL, false, 0);
	cr_expect_eq(error, -EIO);
	cr_expect_eq(do_get(0, 5), -EIO);
	cr_assert_eq(rename(away, dir), 0);
	cr_expect_eq(do_get(0, 5), 0);
}

Test(file_store, errors_of_the_file_system_are_mapped)
{
	const int table[][2] = {{ENOENT, ENOENT}, {ENOTDIR, ENOENT},
			{ELOOP, ENOENT}, {EXDEV, ENOENT},
			{ENAMETOOLONG, ENOENT}, {EACCES, EACCES},
			{EPERM, EACCES}, {EIO, EIO}, {ESTALE, EIO},
			{EMFILE, EIO}, {ENOSYS, EIO}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cr_expect_eq(file_store_error(-table[i][0]), -table[i][1]);
	}
}

Test(file_store, what_may_not_be_read_is_denied)
{
	if (geteuid() == 0) {
		cr_skip_test("root may read anything");
	}
	make_dir("d");
	write_file("f", "x");
	cr_assert_eq(chmod(path_of("d"), 0), 0);
	cr_expect_eq(do_stat("d/x"), -EACCES);
	do_list("d/", NULL, false, 0);
	cr_expect_eq(error, -EACCES);
	cr_assert_eq(do_stat("f"), 0);
	cr_assert_eq(chmod(path_of("f"), 0), 0);
	cr_expect_eq(do_get(0, 1), -EACCES);
	cr_assert_eq(chmod(path_of("d"), 0700), 0);
}
