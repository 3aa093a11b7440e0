#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aws_config_private.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "s3_private.h"

#define KEY_SIZE 32
#define FILE_SIZE_MAX 128

static int complain(char *message, size_t size, const char *path,
		const char *reason)
{
	(void)snprintf(message, size, "sse_c_key_file %s: %s", path, reason);
	return -EINVAL;
}

static ssize_t read_small(const char *path, char *buffer, size_t size)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		return -errno;
	}
	const ssize_t length = read(fd, buffer, size);

	return length < 0 ? -errno : length;
}

static int decode(const char *text, size_t length, uint8_t key[KEY_SIZE])
{
	char line[FILE_SIZE_MAX + 1];
	uint8_t *bytes = NULL;
	size_t count = 0;

	if (length == KEY_SIZE) {
		memcpy(key, text, KEY_SIZE);
		return 0;
	}
	while (length > 0 && strchr("\r\n ", text[length - 1]) != NULL) {
		length--;
	}
	memcpy(line, text, length);
	line[length] = '\0';
	int error = digest_base64_decode(line, &bytes, &count);
	explicit_bzero(line, sizeof(line));
	if (error != 0) {
		return error;
	}
	if (count == KEY_SIZE) {
		memcpy(key, bytes, KEY_SIZE);
	}
	explicit_bzero(bytes, count);
	free(bytes);
	return count == KEY_SIZE ? 0 : -EINVAL;
}

static int encode(const uint8_t key[KEY_SIZE], struct s3_sse_key *out_key)
{
	uint8_t md5[16];
	const int error = digest_md5(key, KEY_SIZE, md5);

	if (error != 0) {
		return error;
	}
	struct s3_sse_key made = {
			.key_base64 = digest_base64(key, KEY_SIZE),
			.md5_base64 = digest_base64(md5, sizeof(md5)),
	};
	if (made.key_base64 == NULL || made.md5_base64 == NULL) {
		s3_sse_key_finish(&made);
		return -ENOMEM;
	}
	*out_key = made;
	return 0;
}

int s3_sse_key_read(const char *path, struct s3_sse_key *out_key, char *message,
		size_t message_size)
{
	char text[FILE_SIZE_MAX];
	uint8_t key[KEY_SIZE];
	const ssize_t length = read_small(path, text, sizeof(text));

	if (length < 0) {
		return complain(message, message_size, path,
				strerror((int)-length));
	}
	int error = decode(text, (size_t)length, key);
	explicit_bzero(text, sizeof(text));
	if (error == -EINVAL) {
		return complain(message, message_size, path,
				"must hold 32 bytes, or their base64");
	}
	error = error != 0 ? error : encode(key, out_key);
	explicit_bzero(key, sizeof(key));
	return error;
}

void s3_sse_key_finish(struct s3_sse_key *key)
{
	aws_free_secret(key->key_base64);
	free(key->md5_base64);
	*key = (struct s3_sse_key){0};
}
