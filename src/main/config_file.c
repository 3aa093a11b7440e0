#include "main/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "main/option_foreign.h"
#include "main/options.h"
#include "main/text_file.h"

#define CONFIG_FILE_LIMIT ((size_t)1 << 20)

/* Cuts a comment behind a value: a '#' with a blank before it. */
static void cut_comment(char *line)
{
	for (char *c = line; *c != '\0'; c++) {
		if ((c[0] == ' ' || c[0] == '\t') && c[1] == '#') {
			*c = '\0';
			return;
		}
	}
}

int config_file_parse(const char *path, char *text, struct options *options,
		char *message, size_t message_size)
{
	unsigned number = 0;
	char reason[384];

	for (;;) {
		char *line = text_file_next_line(&text);
		char *name = NULL;
		char *value = NULL;

		if (line == NULL) {
			return 0;
		}
		number++;
		if (line[0] == '\0') {
			continue;
		}
		cut_comment(line);
		text_file_split(line, &name, &value);
		if (option_mount_word(name)) {
			continue;
		}
		int error = options_set(
				options, name, value, reason, sizeof(reason));

		if (error != 0) {
			(void)snprintf(message, message_size, "%s line %u: %s",
					path, number, reason);
			return error;
		}
	}
}

int config_file_read(const char *path, struct options *options, char *message,
		size_t message_size)
{
	CLEANUP_FREE char *text = NULL;
	int error = text_file_read(path, CONFIG_FILE_LIMIT, &text);

	if (error == -EISDIR) {
		(void)snprintf(message, message_size,
				"%s is a directory; a local directory is the "
				"source file://%s",
				path, path);
		return error;
	}
	if (error != 0) {
		(void)snprintf(message, message_size,
				"%s: %s; a first argument that is a path "
				"names a configuration file",
				path, strerror(-error));
		return error;
	}
	return config_file_parse(path, text, options, message, message_size);
}
