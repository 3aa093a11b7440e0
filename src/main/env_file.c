#include "main/env_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "main/text_file.h"

#define ENV_FILE_LIMIT ((size_t)1 << 18)

static bool is_known_name(const char *name)
{
	static const char *const prefixes[] = {"AWS_", "AZURE_", "GOOGLE_"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
			return true;
		}
	}
	return length > 6 && strcasecmp(name + length - 6, "_proxy") == 0;
}

static char *without_quotes(char *value)
{
	size_t length = strlen(value);

	if (length >= 2 && (value[0] == '"' || value[0] == '\'') &&
			value[length - 1] == value[0]) {
		value[length - 1] = '\0';
		return value + 1;
	}
	return value;
}

static int put_line(char *line)
{
	char *name = NULL;
	char *value = NULL;

	if (strncmp(line, "export ", 7) == 0) {
		line += 7;
	}
	text_file_split(line, &name, &value);
	if (value == NULL || !is_known_name(name)) {
		return -EINVAL;
	}
	return setenv(name, without_quotes(value), 1) == 0 ? 0 : -errno;
}

static int put_lines(const char *path, char *text, char *message,
		size_t message_size)
{
	unsigned number = 0;

	for (;;) {
		char *line = text_file_next_line(&text);

		if (line == NULL) {
			return 0;
		}
		number++;
		if (line[0] != '\0' && put_line(line) != 0) {
			/* The line may be a secret: only its number is told. */
			(void)snprintf(message, message_size,
					"env_file %s line %u: not a "
					"NAME=value line of AWS_, AZURE_, "
					"GOOGLE_ or *_proxy",
					path, number);
			return -EINVAL;
		}
	}
}

int env_file_load(const char *path, char *message, size_t message_size)
{
	char *text = NULL;
	int error = text_file_read_private(path, ENV_FILE_LIMIT, &text);

	if (error == -EPERM) {
		(void)snprintf(message, message_size,
				"env_file %s: other users can read it; "
				"chmod 0600 it",
				path);
		return error;
	}
	if (error != 0) {
		(void)snprintf(message, message_size, "env_file %s: %s", path,
				strerror(-error));
		return error;
	}
	size_t length = strlen(text);

	error = put_lines(path, text, message, message_size);
	explicit_bzero(text, length);
	free(text);
	return error;
}
