#include "source_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/url.h"
#include "s3_address_private.h"

#define MAX_KEY 1024
#define SHOWN 512

static int complain(char *message, size_t size, const char *source,
		const char *reason)
{
	char shown[SHOWN];

	url_print(source, shown, sizeof(shown));
	(void)snprintf(message, size, "%s: %s", shown, reason);
	return -EINVAL;
}

static const char *skip_scheme(const char *text, const char *scheme)
{
	const size_t length = strlen(scheme);

	if (strncasecmp(text, scheme, length) != 0 ||
			strncmp(text + length, "://", 3) != 0) {
		return NULL;
	}
	return text + length + 3;
}

/* The part before the first slash may hold "user:password@". */
static bool has_user(const char *rest)
{
	const char *at = strchr(rest, '@');

	return at != NULL && (size_t)(at - rest) < strcspn(rest, "/?#");
}

static char *make_prefix(const char *text)
{
	const size_t length = strlen(text);
	char *prefix = malloc(length + 2);

	if (prefix == NULL) {
		return NULL;
	}
	memcpy(prefix, text, length + 1);
	if (length > 0 && text[length - 1] != '/') {
		memcpy(prefix + length, "/", 2);
	}
	return prefix;
}

static int parse_s3(const char *text, const char *rest, struct source *source,
		char *message, size_t size)
{
	const size_t bucket_length = strcspn(rest, "/");
	const char *prefix = rest + bucket_length;

	if (*prefix == '/') {
		prefix++;
	}
	source->kind = SOURCE_S3;
	source->bucket = strndup(rest, bucket_length);
	source->prefix = make_prefix(prefix);
	if (source->bucket == NULL || source->prefix == NULL) {
		return -ENOMEM;
	}
	if (bucket_length == 0) {
		return complain(message, size, text,
				"the bucket is missing; give "
				"s3://BUCKET/PREFIX");
	}
	if (!s3_bucket_is_valid(source->bucket)) {
		return complain(message, size, text,
				"not the name of a bucket; give "
				"s3://BUCKET/PREFIX");
	}
	if (strlen(source->prefix) > MAX_KEY) {
		return complain(message, size, text,
				"the prefix is longer than a key can be");
	}
	return 0;
}

static int parse_file(const char *text, const char *rest, struct source *source,
		char *message, size_t size)
{
	if (rest[0] != '/') {
		return complain(message, size, text,
				"give an absolute path, as in file:///DIR");
	}
	source->kind = SOURCE_FILE;
	source->directory = strdup(rest);
	return source->directory != NULL ? 0 : -ENOMEM;
}

static int refuse_others(const char *text, char *message, size_t size)
{
	static const char *const known[] = {
			"az", "abfs", "abfss", "gs", "https", "http"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (skip_scheme(text, known[i]) != NULL) {
			(void)complain(message, size, text,
					"this kind of store is not supported "
					"in this version; s3:// and file:// "
					"are");
			return -ENOTSUP;
		}
	}
	return complain(message, size, text,
			"not a source; give s3://BUCKET/PREFIX or "
			"file:///DIR");
}

static int refuse_secrets(
		const char *text, const char *rest, char *message, size_t size)
{
	if (has_user(rest)) {
		return complain(message, size, text,
				"a source has no user or password; put keys "
				"in the environment or in ~/.aws/credentials");
	}
	if (strchr(rest, '?') != NULL) {
		return complain(message, size, text,
				"a source has no query; a prefix with '?' in "
				"it cannot be mounted, the one above it can");
	}
	return 0;
}

int source_parse(const char *text, struct source *out_source, char *message,
		size_t message_size)
{
	struct source source = {0};
	const char *s3 = skip_scheme(text, "s3");
	const char *file = skip_scheme(text, "file");
	const char *rest = strstr(text, "://");
	int error = rest == NULL ? 0
				 : refuse_secrets(text, rest + 3, message,
						   message_size);

	if (error != 0) {
		return error;
	}
	if (s3 != NULL) {
		error = parse_s3(text, s3, &source, message, message_size);
	} else if (file != NULL) {
		error = parse_file(text, file, &source, message, message_size);
	} else {
		error = refuse_others(text, message, message_size);
	}
	if (error != 0) {
		source_finish(&source);
		return error;
	}
	*out_source = source;
	return 0;
}

void source_finish(struct source *source)
{
	free(source->bucket);
	free(source->prefix);
	free(source->directory);
	*source = (struct source){0};
}
