#ifndef MAIN_ARGUMENTS_H
#define MAIN_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options;

/* What the command line says beside the options of the table. */
struct arguments {
	const char **words; /* Positional, borrowed from argv; owned array. */
	size_t word_count;
	bool foreground, debug, verbose, help, version;
	bool long_listing, json; /* ls -l, stats --json */
	uint64_t every_ms;	 /* stats --every; 0: once */
	bool fake, sloppy;	 /* mount.shardfs -f and -s */
};

/*
 * Reads the command line of shardfs. Options may stand anywhere; "--" ends
 * them. -EINVAL with one line in `message`.
 */
int arguments_parse(int argc, char *const argv[], struct options *options,
		struct arguments *out_arguments, char *message,
		size_t message_size);
void arguments_finish(struct arguments *arguments);

#endif
