#include "main/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static int read_all(int fd, size_t limit, char **out_text)
{
	CLEANUP_FREE char *text = malloc(limit + 2);
	size_t length = 0;

	if (text == NULL) {
		return -ENOMEM;
	}
	for (;;) {
		ssize_t got = read(fd, text + length, limit + 1 - length);

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return -errno;
		}
		length += (size_t)got;
		if (length > limit) {
			return -EFBIG;
		}
		if (got == 0) {
			break;
		}
	}
	if (memchr(text, '\0', length) != NULL) {
		return -EINVAL;
	}
	text[length] = '\0';
	*out_text = text;
	text = NULL;
	return 0;
}

static int read_checked(
		const char *path, size_t limit, bool private, char **out_text)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat status;

	if (fd < 0) {
		return -errno;
	}
	if (private && fstat(fd, &status) != 0) {
		return -errno;
	}
	if (private && (status.st_mode & S_IRWXO) != 0) {
		return -EPERM;
	}
	return read_all(fd, limit, out_text);
}

int text_file_read(const char *path, size_t limit, char **out_text)
{
	return read_checked(path, limit, false, out_text);
}

int text_file_read_private(const char *path, size_t limit, char **out_text)
{
	return read_checked(path, limit, true, out_text);
}

static char *trim(char *text)
{
	while (isspace((unsigned char)*text)) {
		text++;
	}
	size_t length = strlen(text);

	while (length > 0 && isspace((unsigned char)text[length - 1])) {
		length--;
	}
	text[length] = '\0';
	return text;
}

char *text_file_next_line(char **cursor)
{
	char *line = *cursor;

	if (*line == '\0') {
		return NULL;
	}
	char *end = line + strcspn(line, "\n");

	*cursor = *end == '\n' ? end + 1 : end;
	*end = '\0';
	line = trim(line);
	/* A '#' inside a value is part of it. */
	if (line[0] == '#') {
		line[0] = '\0';
	}
	return line;
}

void text_file_split(char *line, char **out_name, char **out_value)
{
	char *equals = strchr(line, '=');

	*out_value = NULL;
	if (equals != NULL) {
		*equals = '\0';
		*out_value = trim(equals + 1);
	}
	*out_name = trim(line);
}
