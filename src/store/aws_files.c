#include "aws_files_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aws_config_private.h"
#include "aws_environment_private.h"
#include "base/cleanup.h"

static char *default_path(const char *home, const char *name)
{
	char *path = NULL;

	if (home == NULL) {
		return strdup(""); /* Not there. */
	}
	return asprintf(&path, "%s/.aws/%s", home, name) >= 0 ? path : NULL;
}

static char *find_path(const char *variable, const char *name)
{
	const char *given = aws_environment_get(variable);

	if (given != NULL && strncmp(given, "~/", 2) != 0) {
		return strdup(given);
	}
	CLEANUP_FREE char *home = aws_environment_home();
	if (given != NULL) {
		char *path = NULL;
		return asprintf(&path, "%s%s", home != NULL ? home : "",
				       given + 1) >= 0
				       ? path
				       : NULL;
	}
	return default_path(home, name);
}

int aws_files_init(struct aws_files *files, const char *profile)
{
	if (profile == NULL) {
		profile = aws_environment_get("AWS_PROFILE");
	}
	*files = (struct aws_files){
			.config_path = find_path("AWS_CONFIG_FILE", "config"),
			.credentials_path =
					find_path("AWS_SHARED_CREDENTIALS_FILE",
							"credentials"),
			.profile = strdup(
					profile != NULL ? profile : "default"),
			.profile_was_named = profile != NULL,
			.config_was_named =
					aws_environment_get(
							"AWS_CONFIG_FILE") !=
					NULL,
			.credentials_was_named =
					aws_environment_get("AWS_SHARED_"
							    "CREDENTIALS_"
							    "FILE") != NULL,
	};
	if (files->config_path == NULL || files->credentials_path == NULL ||
			files->profile == NULL) {
		aws_files_finish(files);
		return -ENOMEM;
	}
	return 0;
}

void aws_files_finish(struct aws_files *files)
{
	free(files->config_path);
	free(files->credentials_path);
	free(files->profile);
	*files = (struct aws_files){0};
}

/* Reads at most `size` bytes; more, or a read error, is a negative errno. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t length = 0;

	while (length < size) {
		const ssize_t got = read(fd, buffer + length, size - length);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return -errno;
		}
		if (got == 0) {
			return (ssize_t)length;
		}
		length += (size_t)got;
	}
	return -EFBIG;
}

/* A pipe could keep us waiting. */
static int open_plain(const char *path)
{
	struct stat status;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &status) != 0 || S_ISFIFO(status.st_mode) ||
			S_ISSOCK(status.st_mode)) {
		(void)close(fd); /* Nothing was written. */
		return -EINVAL;
	}
	return fd;
}

/* A home may be another user's (su, or a daemon's): what lies there and may not
 * be read is not meant for us. */
static bool is_passed_over(int error, bool was_named)
{
	return error == -ENOENT || error == -ENOTDIR ||
	       (error == -EACCES && !was_named);
}

static int read_file(const char *path, bool was_named, enum aws_file kind,
		const char *profile, struct aws_profile *inout_profile)
{
	CLEANUP_CLOSE int fd = open_plain(path);

	if (fd < 0) {
		return is_passed_over(fd, was_named) ? 0 : fd;
	}
	char *text = malloc(AWS_FILE_MAX_SIZE);
	if (text == NULL) {
		return -ENOMEM;
	}
	const ssize_t length = read_all(fd, text, AWS_FILE_MAX_SIZE);
	int error = length < 0 ? (int)length : 0;

	if (error == 0) {
		error = aws_config_parse(text, (size_t)length, kind, profile,
				inout_profile);
		explicit_bzero(text, (size_t)length);
	}
	free(text);
	return error;
}

static int complain(char *message, size_t size, const char *path, int error)
{
	if (error == -ENOMEM) {
		return error;
	}
	(void)snprintf(message, size, "cannot read %s: %s", path,
			strerror(-error));
	return error;
}

int aws_files_read(const struct aws_files *files,
		struct aws_profile *out_profile, char *message,
		size_t message_size)
{
	struct aws_profile read = {0};
	int error = read_file(files->config_path, files->config_was_named,
			AWS_FILE_CONFIG, files->profile, &read);

	if (error != 0) {
		error = complain(message, message_size, files->config_path,
				error);
		goto failed;
	}
	error = read_file(files->credentials_path, files->credentials_was_named,
			AWS_FILE_CREDENTIALS, files->profile, &read);
	if (error != 0) {
		error = complain(message, message_size, files->credentials_path,
				error);
		goto failed;
	}
	if (files->profile_was_named && !read.found) {
		(void)snprintf(message, message_size,
				"no profile \"%s\" in %s or %s", files->profile,
				files->config_path, files->credentials_path);
		error = -EINVAL;
		goto failed;
	}
	*out_profile = read;
	return 0;
failed:
	aws_profile_finish(&read);
	return error;
}

static struct aws_file_stamp stamp(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0) {
		return (struct aws_file_stamp){0};
	}
	return (struct aws_file_stamp){
			.is_there = true,
			.device = status.st_dev,
			.inode = status.st_ino,
			.size = status.st_size,
			.modified = status.st_mtim,
			.changed = status.st_ctim,
	};
}

void aws_files_stamp(const struct aws_files *files,
		struct aws_file_stamp out_stamps[2])
{
	out_stamps[0] = stamp(files->config_path);
	out_stamps[1] = stamp(files->credentials_path);
}

static bool times_equal(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool aws_stamps_equal(const struct aws_file_stamp a[2],
		const struct aws_file_stamp b[2])
{
	for (size_t i = 0; i < 2; i++) {
		if (a[i].is_there != b[i].is_there ||
				a[i].device != b[i].device ||
				a[i].inode != b[i].inode ||
				a[i].size != b[i].size ||
				!times_equal(a[i].modified, b[i].modified) ||
				!times_equal(a[i].changed, b[i].changed)) {
			return false;
		}
	}
	return true;
}
