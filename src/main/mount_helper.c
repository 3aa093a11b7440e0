#include "main/mount_helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main/arguments.h"
#include "main/options.h"

#define MOUNT_WAIT_MS 60000

bool mount_helper_called_as(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	const char *name = slash != NULL ? slash + 1 : argv0;

	return strcmp(name, "mount.shardfs") == 0 ||
	       strcmp(name, "mount.fuse.shardfs") == 0;
}

struct helper {
	int count;
	char *const *argv;
	int next;
	struct arguments *arguments;
	const char **lists; /* -o, applied once -s is known. */
	size_t list_count;
};

void mount_helper_defaults(struct options *options)
{
	options->mount_wait_ms = MOUNT_WAIT_MS;
}

static const char *value_of(struct helper *helper, const char *rest)
{
	if (rest[0] != '\0') {
		return rest;
	}
	return helper->next < helper->count ? helper->argv[helper->next++]
					    : NULL;
}

static int parse_flags(struct helper *helper, const char *text)
{
	for (const char *c = text + 1; *c != '\0'; c++) {
		const char *value = NULL;

		switch (*c) {
		case 'f':
			helper->arguments->fake = true;
			break;
		case 's':
			helper->arguments->sloppy = true;
			break;
		case 'v':
			helper->arguments->verbose = true;
			break;
		case 'n':
			break;
		case 'o':
		case 't':
		case 'N':
			value = value_of(helper, c + 1);
			if (value == NULL) {
				return -EINVAL;
			}
			if (*c == 'o') {
				helper->lists[helper->list_count++] = value;
			}
			return 0;
		default:
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_words(struct helper *helper)
{
	struct arguments *arguments = helper->arguments;

	while (helper->next < helper->count) {
		const char *text = helper->argv[helper->next++];

		if (text[0] != '-' || text[1] == '\0') {
			arguments->words[arguments->word_count++] = text;
			continue;
		}
		if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
			arguments->help = true;
			continue;
		}
		if (strcmp(text, "--version") == 0 || strcmp(text, "-V") == 0) {
			arguments->version = true;
			continue;
		}
		if (parse_flags(helper, text) != 0) {
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_all(struct helper *helper, struct options *options,
		char *message, size_t message_size)
{
	if (parse_words(helper) != 0) {
		(void)snprintf(message, message_size,
				"usage: mount.shardfs SOURCE DIR [-sfnv] "
				"[-o OPTIONS] [-t TYPE] [-N NAMESPACE]");
		return -EINVAL;
	}
	for (size_t i = 0; i < helper->list_count; i++) {
		int error = options_set_list(options, helper->lists[i],
				helper->arguments->sloppy, message,
				message_size);

		if (error != 0) {
			return error;
		}
	}
	return 0;
}

int mount_helper_parse(int argc, char *const argv[], struct options *options,
		struct arguments *out_arguments, char *message,
		size_t message_size)
{
	struct arguments arguments = {0};
	struct helper helper = {
			.count = argc,
			.argv = argv,
			.next = 1,
			.arguments = &arguments,
	};
	int error = -ENOMEM;

	arguments.words = calloc((size_t)argc + 1, sizeof(*arguments.words));
	helper.lists = calloc((size_t)argc + 1, sizeof(*helper.lists));
	if (arguments.words != NULL && helper.lists != NULL) {
		error = parse_all(&helper, options, message, message_size);
	} else {
		(void)snprintf(message, message_size, "out of memory");
	}
	free(helper.lists);
	if (error != 0) {
		arguments_finish(&arguments);
		return error;
	}
	*out_arguments = arguments;
	return 0;
}
