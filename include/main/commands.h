#ifndef MAIN_COMMANDS_H
#define MAIN_COMMANDS_H

#include <stdbool.h>

struct arguments;
struct options;

/* Exit statuses of the command (the manual lists them). */
enum { STATUS_DONE = 0, STATUS_USAGE = 1, STATUS_FAILED = 2 };

/* "shardfs: " and one line on stderr; returns `status`. */
int command_fail(int status, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* The subcommands; words[0] is the name. Each returns the exit status. */
int cmd_stats(const struct arguments *arguments);
int cmd_ls(const struct arguments *arguments, const struct options *options);
int cmd_cat(const struct arguments *arguments, const struct options *options);

#endif
