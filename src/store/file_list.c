#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "file_store_private.h"

/* One directory on the way: the keys of what is in it, directories with '/' at
 * their end, in byte order. That order is also the order of all keys below. */
struct level {
	char **keys;
	size_t count, capacity;
	size_t next_key;
	struct level *parent;
};

struct walk {
	int root_fd;
	const struct store_list_args *args;
	struct level *top;
};

static bool ends_in_slash(const char *text)
{
	const size_t length = strlen(text);
	return length > 0 && text[length - 1] == '/';
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void level_free(struct level *level)
{
	if (level == NULL) {
		return;
	}
	for (size_t i = 0; i < level->count; i++) {
		free(level->keys[i]);
	}
	free(level->keys);
	free(level);
}

/* dir_key + name + '/' for a directory. */
static int level_add(struct level *level, const char *dir_key, const char *name,
		bool is_dir)
{
	if (level->count == level->capacity) {
		const size_t capacity = level->capacity * 2 + 64;
		char **keys = realloc(level->keys, capacity * sizeof(*keys));
		if (keys == NULL) {
			return -ENOMEM;
		}
		level->keys = keys;
		level->capacity = capacity;
	}
	const size_t dir_length = strlen(dir_key);
	const size_t name_length = strlen(name);
	char *key = malloc(dir_length + name_length + 2);
	if (key == NULL) {
		return -ENOMEM;
	}
	memcpy(key, dir_key, dir_length);
	memcpy(key + dir_length, name, name_length);
	memcpy(key + dir_length + name_length, is_dir ? "/" : "\0", 2);
	level->keys[level->count++] = key;
	return 0;
}

static int stat_beneath(int root_fd, const char *key, struct stat *out_status)
{
	CLEANUP_CLOSE int fd = file_open_beneath(root_fd, key, O_PATH);
	if (fd < 0) {
		return fd;
	}
	return fstat(fd, out_status) < 0 ? -errno : 0;
}

/* A link to a directory above it would make the tree endless: whether `target`
 * is `dir_key` or one of the directories on the way to it. */
static bool is_above(
		int root_fd, const char *dir_key, const struct stat *target)
{
	CLEANUP_FREE char *path = strdup(dir_key);
	if (path == NULL) {
		return true;
	}
	for (;;) {
		struct stat status;
		if (stat_beneath(root_fd, path, &status) < 0 ||
				(status.st_dev == target->st_dev &&
						status.st_ino ==
								target->st_ino)) {
			return true;
		}
		if (path[0] == '\0') {
			return false;
		}
		path[strlen(path) - 1] = '\0'; /* Its '/'. */
		char *slash = strrchr(path, '/');
		*(slash == NULL ? path : slash + 1) = '\0';
	}
}

enum entry_kind { ENTRY_HIDDEN, ENTRY_FILE, ENTRY_DIR };

/* ENTRY_HIDDEN also for what vanished meanwhile. */
static int classify(int root_fd, const char *dir_key,
		const struct dirent *entry, enum entry_kind *out_kind)
{
	if (entry->d_type == DT_REG || entry->d_type == DT_DIR) {
		*out_kind = entry->d_type == DT_DIR ? ENTRY_DIR : ENTRY_FILE;
		return 0;
	}
	*out_kind = ENTRY_HIDDEN;
	if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) {
		return 0;
	}
	CLEANUP_FREE char *key = NULL;
	if (asprintf(&key, "%s%s", dir_key, entry->d_name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	struct stat status;
	const int error = stat_beneath(root_fd, key, &status);
	if (error < 0) {
		return file_store_error(error) == -ENOENT ? 0 : error;
	}
	if (S_ISREG(status.st_mode)) {
		*out_kind = ENTRY_FILE;
	} else if (S_ISDIR(status.st_mode) &&
			!is_above(root_fd, dir_key, &status)) {
		*out_kind = ENTRY_DIR;
	}
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_entries(int root_fd, const char *dir_key, DIR *stream,
		struct level *level)
{
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(stream);
		if (entry == NULL) {
			return -errno;
		}
		if (strcmp(entry->d_name, ".") == 0 ||
				strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		enum entry_kind kind = ENTRY_HIDDEN;
		int error = classify(root_fd, dir_key, entry, &kind);
		if (error == 0 && kind != ENTRY_HIDDEN) {
			error = level_add(level, dir_key, entry->d_name,
					kind == ENTRY_DIR);
		}
		if (error < 0) {
			return error;
		}
	}
}

/* Reads `dir_key` and lays it on top. */
static int push_level(struct walk *walk, const char *dir_key)
{
	const int fd = file_open_beneath(
			walk->root_fd, dir_key, O_RDONLY | O_DIRECTORY);
	if (fd < 0) {
		return fd;
	}
	DIR *stream = fdopendir(fd);
	if (stream == NULL) {
		(void)close(fd); /* Nothing was written. */
		return -ENOMEM;
	}
	struct level *level = calloc(1, sizeof(*level));
	int error = level == NULL ? -ENOMEM
				  : read_entries(walk->root_fd, dir_key, stream,
						    level);
	(void)closedir(stream);
	if (error < 0) {
		level_free(level);
		return error;
	}
	if (level->count > 1) {
		qsort(level->keys, level->count, sizeof(char *), compare_keys);
	}
	level->parent = walk->top;
	walk->top = level;
	return 0;
}

static void pop_level(struct walk *walk)
{
	struct level *level = walk->top;
	walk->top = level->parent;
	level_free(level);
}

static int page_add(struct file_page *page, const char *key,
		const struct stat *status)
{
	if (page->page.entry_count == page->capacity) {
		const size_t capacity = page->capacity * 2 + 64;
		struct store_entry *entries = realloc(
				page->entries, capacity * sizeof(*entries));
		if (entries == NULL) {
			return -ENOMEM;
		}
		page->entries = entries;
		page->capacity = capacity;
	}
	char etag[FILE_ETAG_SIZE] = "";
	if (status != NULL) {
		file_etag(status, etag);
	}
	struct store_entry *entry = &page->entries[page->page.entry_count++];
	*entry = (struct store_entry){
			.key = strdup(key),
			.key_length = strlen(key),
			.is_prefix = status == NULL,
			.etag = strdup(etag),
	};
	if (status != NULL) {
		entry->size = (uint64_t)status->st_size;
		entry->mtime = status->st_mtim.tv_sec;
		entry->unsettled = file_unsettled(status);
	}
	return entry->key == NULL || entry->etag == NULL ? -ENOMEM : 0;
}

/* A directory without anything shows that it is there as stores do: by an
 * empty object with its name and the '/'. */
static int page_add_marker(
		struct walk *walk, struct file_page *page, const char *dir_key)
{
	struct stat status;
	const int error = stat_beneath(walk->root_fd, dir_key, &status);
	if (error < 0) {
		return error;
	}
	status.st_size = 0;
	return page_add(page, dir_key, &status);
}

static int page_add_file(
		struct walk *walk, struct file_page *page, const char *key)
{
	struct stat status;
	const int error = stat_beneath(walk->root_fd, key, &status);
	if (error < 0) {
		/* Removed since the directory was read. */
		return file_store_error(error) == -ENOENT ? 0 : error;
	}
	return S_ISREG(status.st_mode) ? page_add(page, key, &status) : 0;
}

static int enter(struct walk *walk, struct file_page *page, const char *dir_key)
{
	int error = push_level(walk, dir_key);
	if (error < 0) {
		return file_store_error(error) == -ENOENT ? 0 : error;
	}
	const bool after_token = walk->args->token == NULL ||
				 strcmp(dir_key, walk->args->token) > 0;
	if (walk->top->count == 0 && dir_key[0] != '\0' && after_token &&
			starts_with(dir_key, walk->args->prefix)) {
		error = page_add_marker(walk, page, dir_key);
	}
	return error;
}

/* Whether the key, or something below it, belongs to the page. */
static bool wanted(const struct store_list_args *args, const char *key)
{
	if (!starts_with(key, args->prefix)) {
		return false;
	}
	return args->token == NULL || strcmp(key, args->token) > 0 ||
	       (args->recursive && ends_in_slash(key) &&
			       starts_with(args->token, key));
}

static int fill_page(struct walk *walk, struct file_page *page)
{
	const size_t max_keys = walk->args->max_keys > 0 ? walk->args->max_keys
							 : FILE_PAGE_KEYS;
	while (walk->top != NULL) {
		struct level *level = walk->top;
		if (level->next_key == level->count) {
			pop_level(walk);
			continue;
		}
		const char *key = level->keys[level->next_key++];
		if (!wanted(walk->args, key)) {
			continue;
		}
		if (page->page.entry_count >= max_keys) {
			page->token = strdup(page->entries[max_keys - 1].key);
			return page->token == NULL ? -ENOMEM : 0;
		}
		int error = 0;
		if (!ends_in_slash(key)) {
			error = page_add_file(walk, page, key);
		} else if (walk->args->recursive) {
			error = enter(walk, page, key);
		} else {
			error = page_add(page, key, NULL);
		}
		if (error < 0) {
			return error;
		}
	}
	return 0;
}

void file_page_finish(struct file_page *page)
{
	for (size_t i = 0; i < page->page.entry_count; i++) {
		free((char *)page->entries[i].key);
		free((char *)page->entries[i].etag);
	}
	free(page->entries);
	free(page->token);
}

int file_list(int root_fd, const struct store_list_args *args,
		struct file_page *out_page)
{
	struct walk walk = {.root_fd = root_fd, .args = args};
	struct file_page page = {0};
	CLEANUP_FREE char *dir_key = strdup(args->prefix);
	if (dir_key == NULL) {
		return -ENOMEM;
	}
	char *slash = strrchr(dir_key, '/');
	*(slash == NULL ? dir_key : slash + 1) = '\0';

	int error = 0;
	if (file_key_valid(dir_key)) {
		error = enter(&walk, &page, dir_key);
	}
	if (error == 0) {
		error = fill_page(&walk, &page);
	}
	while (walk.top != NULL) {
		pop_level(&walk);
	}
	if (error < 0) {
		file_page_finish(&page);
		return error == -ENOMEM ? error : file_store_error(error);
	}
	page.page.entries = page.entries;
	page.page.next_token = page.token;
	*out_page = page;
	return 0;
}
