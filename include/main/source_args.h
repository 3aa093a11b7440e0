#ifndef MAIN_SOURCE_ARGS_H
#define MAIN_SOURCE_ARGS_H

#include <stddef.h>

/* What the first word of a command line is. */
enum source_kind {
	SOURCE_URL,
	SOURCE_CONFIG, /* An absolute path: a configuration file. */
	SOURCE_SUBCOMMAND,
	SOURCE_OTHER, /* Nothing that is known. */
};

enum source_kind source_args_kind(const char *word);

/* Borrowed from words and options. */
struct source_args {
	const char *source; /* What is opened. */
	const char *shown;  /* What the mount table shows. */
	const char *mountpoint;
};

/*
 * Finds source and mount point among the positional words. `option_source` is
 * the value of the option `source`, NULL if not given. -EINVAL with one line.
 */
int source_args_resolve(const char *const *words, size_t word_count,
		const char *option_source, struct source_args *out_args,
		char *message, size_t message_size);

#endif
