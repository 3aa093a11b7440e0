#ifndef MAIN_CONFIG_FILE_H
#define MAIN_CONFIG_FILE_H

#include <stddef.h>

struct options;

/*
 * Sets what a configuration file says: lines `name = value` as in `-o`, `#`
 * comments. A negative errno with one line in `message`, which names file and
 * line.
 */
int config_file_read(const char *path, struct options *options, char *message,
		size_t message_size);

/* As above for text in memory; `path` is for messages. */
int config_file_parse(const char *path, char *text, struct options *options,
		char *message, size_t message_size);

#endif
