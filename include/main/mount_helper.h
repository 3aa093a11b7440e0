#ifndef MAIN_MOUNT_HELPER_H
#define MAIN_MOUNT_HELPER_H

#include <stdbool.h>
#include <stddef.h>

struct arguments;
struct options;

/* Whether the command was called as mount.shardfs (or mount.fuse.shardfs). */
bool mount_helper_called_as(const char *argv0);

/* What is otherwise than on the command line: at boot the network may be late.
 */
void mount_helper_defaults(struct options *options);

/*
 * Reads the command line that mount(8) gives its helpers: SOURCE DIR [-sfnvN]
 * [-o LIST] [-t TYPE] [-N NAMESPACE]. Otherwise as arguments_parse.
 */
int mount_helper_parse(int argc, char *const argv[], struct options *options,
		struct arguments *out_arguments, char *message,
		size_t message_size);

#endif
