#include "main/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "main/option_foreign.h"
#include "main/option_table.h"
#include "main/option_value.h"

#define MIB ((uint64_t)1 << 20)

void options_init(struct options *options)
{
	*options = (struct options){
			.min_free = {.percent = 10},
			.metadata_ttl_ms = 60000,
			.path_style = -1,
			.part_size = 8 * MIB,
			.max_window = 64 * MIB,
			.max_connections = 64,
			.timeout_ms = 300000,
			.retries = 10,
			.uid = getuid(),
			.gid = getgid(),
			.file_mode = 0444,
			.dir_mode = 0555,
			.log_level = LOG_INFO,
	};
}

static bool owns_text(const struct option_entry *entry)
{
	return entry->kind == OPTION_TEXT || entry->kind == OPTION_PATH ||
	       entry->kind == OPTION_SOURCE;
}

void options_finish(struct options *options)
{
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_entry *entry = &option_table[i];

		if (owns_text(entry)) {
			char **text = (void *)((char *)options + entry->offset);

			free(*text);
			*text = NULL;
		}
	}
}

static void explain_unknown(
		const char *name, char *message, size_t message_size)
{
	const char *hint = option_foreign_hint(name);
	const char *nearest = option_table_nearest(name);

	if (hint != NULL) {
		(void)snprintf(message, message_size,
				"unknown option %.64s: shardfs %s", name, hint);
	} else if (nearest != NULL) {
		(void)snprintf(message, message_size,
				"unknown option %.64s: did you mean %s?", name,
				nearest);
	} else {
		(void)snprintf(message, message_size,
				"unknown option %.64s: shardfs --help lists "
				"them",
				name);
	}
}

int options_set(struct options *options, const char *name, const char *value,
		char *message, size_t message_size)
{
	const struct option_entry *entry = option_table_find(name);

	if (entry == NULL) {
		explain_unknown(name, message, message_size);
		return -EINVAL;
	}
	int error = option_value_parse(entry, value,
			(char *)options + entry->offset, message, message_size);

	if (error == -ENOMEM) {
		(void)snprintf(message, message_size, "out of memory");
	}
	return error;
}

/* The length of what mount(8) puts in quotes, as in context="a:b,c", with its
 * quotes; 0: nothing. */
static size_t quoted_length(const char *item, const char *at)
{
	if (at == item || at[-1] != '=' || at[0] != '"') {
		return 0;
	}
	const char *end = strchr(at + 1, '"');

	return end != NULL && (end[1] == ',' || end[1] == '\0')
			       ? (size_t)(end - at) + 1
			       : 0;
}

/* Cuts the next item off a list, in place, and drops the backslash of `\,`. */
static char *next_item(char **cursor)
{
	char *item = *cursor;
	char *to = item;
	char *from = item;

	if (*from == '\0') {
		return NULL;
	}
	while (*from != '\0' && *from != ',') {
		size_t quoted = quoted_length(*cursor, from);

		if (quoted > 0) {
			memmove(to, from, quoted);
			to += quoted;
			from += quoted;
			continue;
		}
		if (from[0] == '\\' && from[1] == ',') {
			from++;
		}
		*to++ = *from++;
	}
	*cursor = *from == ',' ? from + 1 : from;
	*to = '\0';
	return item;
}

static int set_item(struct options *options, char *item, bool sloppy,
		char *message, size_t message_size)
{
	char *value = strchr(item, '=');

	if (value != NULL) {
		*value++ = '\0';
	}
	if (item[0] == '\0' || option_mount_word(item)) {
		return 0;
	}
	if (strcmp(item, "remount") == 0) {
		(void)snprintf(message, message_size,
				"remount is not supported; unmount and mount "
				"again");
		return -EINVAL;
	}
	if (sloppy && option_table_find(item) == NULL) {
		explain_unknown(item, message, message_size);
		(void)fprintf(stderr, "shardfs: %s (ignored)\n", message);
		return 0;
	}
	return options_set(options, item, value, message, message_size);
}

int options_set_list(struct options *options, const char *list, bool sloppy,
		char *message, size_t message_size)
{
	CLEANUP_FREE char *copy = strdup(list);
	char *cursor = copy;

	if (copy == NULL) {
		(void)snprintf(message, message_size, "out of memory");
		return -ENOMEM;
	}
	for (;;) {
		char *item = next_item(&cursor);

		if (item == NULL) {
			return 0;
		}
		int error = set_item(
				options, item, sloppy, message, message_size);

		if (error != 0) {
			return error;
		}
	}
}
