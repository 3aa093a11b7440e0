#include "main/source_args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum source_kind source_args_kind(const char *word)
{
	static const char *const subcommands[] = {"stats", "warm", "refresh",
			"snapshot", "cache", "ls", "cat"};

	if (strstr(word, "://") != NULL) {
		return SOURCE_URL;
	}
	if (word[0] == '/') {
		return SOURCE_CONFIG;
	}
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]);
			i++) {
		if (strcmp(word, subcommands[i]) == 0) {
			return SOURCE_SUBCOMMAND;
		}
	}
	return SOURCE_OTHER;
}

static int refuse(char *message, size_t message_size, const char *text)
{
	(void)snprintf(message, message_size, "%s", text);
	return -EINVAL;
}

/* A word in the place of SOURCE. With the option `source` it may be anything,
 * as in a line of fstab; it is then only shown. */
static int resolve_word(const char *word, const char *option_source,
		struct source_args *args, char *message, size_t message_size)
{
	enum source_kind kind = source_args_kind(word);

	args->shown = word;
	if (kind == SOURCE_URL && option_source == NULL) {
		args->source = word;
		return 0;
	}
	if (kind == SOURCE_URL) {
		return refuse(message, message_size,
				"SOURCE is given twice, as a word and by the "
				"option source");
	}
	if (option_source != NULL) {
		args->source = option_source;
		return 0;
	}
	if (kind == SOURCE_CONFIG) {
		(void)snprintf(message, message_size,
				"%s: no SOURCE; add a line: source = "
				"s3://BUCKET/PREFIX",
				word);
		return -EINVAL;
	}
	(void)snprintf(message, message_size,
			"%.200s: no such command, and no SOURCE like "
			"s3://BUCKET/PREFIX",
			word);
	return -EINVAL;
}

int source_args_resolve(const char *const *words, size_t word_count,
		const char *option_source, struct source_args *out_args,
		char *message, size_t message_size)
{
	struct source_args args = {0};

	if (word_count == 1 && option_source != NULL) {
		*out_args = (struct source_args){
				.source = option_source,
				.shown = "shardfs",
				.mountpoint = words[0],
		};
		return 0;
	}
	if (word_count < 1) {
		return refuse(message, message_size,
				"SOURCE and MOUNTPOINT are missing: shardfs "
				"--help");
	}
	int error = resolve_word(
			words[0], option_source, &args, message, message_size);

	if (error != 0) {
		return error;
	}
	if (word_count < 2) {
		return refuse(message, message_size,
				"MOUNTPOINT is missing: shardfs SOURCE "
				"MOUNTPOINT");
	}
	if (word_count > 2) {
		(void)snprintf(message, message_size,
				"too many words, from %.200s on: shardfs "
				"SOURCE MOUNTPOINT",
				words[2]);
		return -EINVAL;
	}
	args.mountpoint = words[1];
	*out_args = args;
	return 0;
}
