#include "aws_credentials_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws_config_private.h"

static char *copy_or_null(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

struct aws_credentials *aws_credentials_create(const char *source,
		const char *access_key_id, const char *secret_access_key,
		const char *session_token)
{
	struct aws_credentials *keys = calloc(1, sizeof(*keys));

	if (keys == NULL) {
		return NULL;
	}
	atomic_init(&keys->references, 1);
	keys->source = source;
	keys->access_key_id = strdup(access_key_id);
	keys->secret_access_key = strdup(secret_access_key);
	keys->session_token = copy_or_null(session_token);
	if (keys->access_key_id == NULL || keys->secret_access_key == NULL ||
			(session_token != NULL &&
					keys->session_token == NULL)) {
		aws_credentials_unref(keys);
		return NULL;
	}
	return keys;
}

struct aws_credentials *aws_credentials_ref(struct aws_credentials *keys)
{
	atomic_fetch_add_explicit(&keys->references, 1, memory_order_relaxed);
	return keys;
}

void aws_credentials_unref(struct aws_credentials *keys)
{
	if (keys == NULL || atomic_fetch_sub_explicit(&keys->references, 1,
					    memory_order_acq_rel) != 1) {
		return;
	}
	aws_free_secret(keys->access_key_id);
	aws_free_secret(keys->secret_access_key);
	aws_free_secret(keys->session_token);
	free(keys);
}

static bool texts_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool aws_credentials_equal(const struct aws_credentials *a,
		const struct aws_credentials *b)
{
	return texts_equal(a->access_key_id, b->access_key_id) &&
	       texts_equal(a->secret_access_key, b->secret_access_key) &&
	       texts_equal(a->session_token, b->session_token);
}

void aws_credentials_print(
		const struct aws_credentials *keys, char *buffer, size_t size)
{
	const char *id = keys->access_key_id;
	const size_t length = strlen(id);

	/* A short id would be shown whole. */
	if (length < 12) {
		(void)snprintf(buffer, size, "…");
		return;
	}
	(void)snprintf(buffer, size, "%.4s…%s", id, id + length - 4);
}
