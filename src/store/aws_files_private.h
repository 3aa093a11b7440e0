#ifndef STORE_AWS_FILES_PRIVATE_H
#define STORE_AWS_FILES_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct aws_profile;

/* The two shared files and the profile that is used: where they are, and
 * whether they changed. */
struct aws_file_stamp {
	bool is_there;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

struct aws_files {
	char *config_path;
	char *credentials_path;
	char *profile;
	bool profile_was_named; /* By an option or AWS_PROFILE. */
	bool config_was_named, credentials_was_named;
};

/* Paths from AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, else below the
 * home directory; the profile from `profile`, AWS_PROFILE, else "default". */
int aws_files_init(struct aws_files *files, const char *profile);
void aws_files_finish(struct aws_files *files);

/*
 * Reads both files; what the credentials file says wins. A file that is not
 * there is empty, and so is one below the home directory that may not be read.
 * With a message: -EINVAL when a named profile is in neither, others when a
 * file cannot be read.
 */
int aws_files_read(const struct aws_files *files,
		struct aws_profile *out_profile, char *message,
		size_t message_size);

/* One for each file. */
void aws_files_stamp(const struct aws_files *files,
		struct aws_file_stamp out_stamps[2]);
bool aws_stamps_equal(const struct aws_file_stamp a[2],
		const struct aws_file_stamp b[2]);

#endif
