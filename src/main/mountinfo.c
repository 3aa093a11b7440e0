#include "main/mountinfo.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "main/text_file.h"

#define MOUNTINFO_LIMIT ((size_t)8 << 20)
#define LINKS_MAX 16

void mountinfo_finish(struct mountinfo *info)
{
	free(info->mountpoint);
	free(info->type);
	free(info->source);
	*info = (struct mountinfo){0};
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* A copy of a field with its \ooo put back to bytes. */
static char *unescape(const char *field, size_t length)
{
	char *text = malloc(length + 1);
	size_t to = 0;

	if (text == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < length; i++) {
		if (field[i] == '\\' && i + 3 < length &&
				is_octal(field[i + 1]) &&
				is_octal(field[i + 2]) &&
				is_octal(field[i + 3])) {
			text[to++] = (char)((field[i + 1] - '0') * 64 +
					    (field[i + 2] - '0') * 8 +
					    (field[i + 3] - '0'));
			i += 3;
		} else {
			text[to++] = field[i];
		}
	}
	text[to] = '\0';
	return text;
}

struct field {
	const char *text;
	size_t length;
};

static struct field next_field(const char **cursor)
{
	struct field field = {*cursor, strcspn(*cursor, " \n")};

	*cursor += field.length;
	if (**cursor == ' ') {
		(*cursor)++;
	}
	return field;
}

/* The fields of one line: 5 is the mount point; behind the lone "-" come type
 * and source. */
static int split_line(const char *line, struct field *out_point,
		struct field *out_type, struct field *out_source)
{
	struct field field = {0};

	for (int i = 0; i < 5; i++) {
		field = next_field(&line);
	}
	*out_point = field;
	do {
		field = next_field(&line);
		if (field.length == 0) {
			return -EINVAL;
		}
	} while (field.length != 1 || field.text[0] != '-');
	*out_type = next_field(&line);
	*out_source = next_field(&line);
	return 0;
}

/* How much of `path` the mount point covers: 0 is not at all. */
static size_t covers(const char *point, const char *path, bool inside)
{
	size_t length = strlen(point);

	if (strcmp(point, path) == 0) {
		return length;
	}
	if (!inside || strncmp(point, path, length) != 0) {
		return 0;
	}
	return path[length] == '/' || strcmp(point, "/") == 0 ? length : 0;
}

static int fill(const char *line, struct mountinfo *out_info)
{
	struct field point, type, source;
	int error = split_line(line, &point, &type, &source);

	if (error != 0) {
		return error;
	}
	*out_info = (struct mountinfo){
			.mountpoint = unescape(point.text, point.length),
			.type = unescape(type.text, type.length),
			.source = unescape(source.text, source.length),
	};
	if (out_info->mountpoint == NULL || out_info->type == NULL ||
			out_info->source == NULL) {
		mountinfo_finish(out_info);
		return -ENOMEM;
	}
	return 0;
}

int mountinfo_find(const char *text, const char *path, bool inside,
		struct mountinfo *out_info)
{
	const char *best = NULL;
	size_t best_length = 1;

	while (*text != '\0') {
		struct field point, type, source;

		if (split_line(text, &point, &type, &source) == 0) {
			CLEANUP_FREE char *name =
					unescape(point.text, point.length);

			if (name == NULL) {
				return -ENOMEM;
			}
			size_t length = covers(name, path, inside);

			/* A later line of the same place lies on top. */
			if (length >= best_length) {
				best = text;
				best_length = length;
			}
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return best != NULL ? fill(best, out_info) : -ENOENT;
}

int mountinfo_read(char **out_text)
{
	return text_file_read(
			"/proc/self/mountinfo", MOUNTINFO_LIMIT, out_text);
}

static char *join(const char *dir, const char *name)
{
	size_t dir_length = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	size_t name_length = strlen(name);
	char *path = malloc(dir_length + name_length + 2);

	if (path != NULL) {
		memcpy(path, dir, dir_length);
		path[dir_length] = '/';
		memcpy(path + dir_length + 1, name, name_length + 1);
	}
	return path;
}

/* The absolute path of `path`, its last component not followed. */
static int absolute_once(const char *path, char **out_path)
{
	CLEANUP_FREE char *copy = strdup(path);
	CLEANUP_FREE char *dir = NULL;

	if (copy == NULL) {
		return -ENOMEM;
	}
	size_t length = strlen(copy);

	while (length > 1 && copy[length - 1] == '/') {
		copy[--length] = '\0';
	}
	char *slash = strrchr(copy, '/');
	const char *name = slash != NULL ? slash + 1 : copy;

	if (name[0] == '\0' || strcmp(name, ".") == 0 ||
			strcmp(name, "..") == 0) {
		*out_path = realpath(copy, NULL);
		return *out_path != NULL ? 0 : -errno;
	}
	if (slash != NULL) {
		*slash = '\0';
	}
	dir = realpath(slash == NULL ? "." : slash == copy ? "/" : copy, NULL);
	if (dir == NULL) {
		return -errno;
	}
	*out_path = join(dir, name);
	return *out_path != NULL ? 0 : -ENOMEM;
}

/* The path that the link `path` means; -EINVAL if it is none. Reading a link
 * asks no file system that is mounted there. */
static int follow_link(const char *path, char **out_path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length < 0) {
		return -EINVAL;
	}
	target[length] = '\0';
	if (target[0] == '/') {
		*out_path = strdup(target);
	} else {
		CLEANUP_FREE char *dir = strdup(path);

		if (dir == NULL) {
			return -ENOMEM;
		}
		dir[strrchr(dir, '/') - dir] = '\0';
		*out_path = join(dir, target);
	}
	return *out_path != NULL ? 0 : -ENOMEM;
}

int mountinfo_absolute(const char *path, char **out_path)
{
	char *absolute = NULL;
	int error = absolute_once(path, &absolute);

	for (int links = 0; error == 0; links++) {
		char *target = NULL;
		int followed = follow_link(absolute, &target);

		if (followed == -EINVAL) {
			*out_path = absolute;
			return 0;
		}
		free(absolute);
		absolute = NULL;
		error = followed != 0	     ? followed
			: links >= LINKS_MAX ? -ELOOP
					     : 0;
		if (error == 0) {
			error = absolute_once(target, &absolute);
		}
		free(target);
	}
	return error;
}
