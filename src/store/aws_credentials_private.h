#ifndef STORE_AWS_CREDENTIALS_PRIVATE_H
#define STORE_AWS_CREDENTIALS_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/* One set of keys: immutable, counted, wiped when the last one lets go. */
struct aws_credentials {
	atomic_uint references;
	const char *source; /* Who gave them, for people. */
	char *access_key_id;
	char *secret_access_key;
	char *session_token; /* NULL for lasting keys. */
};

/* Copies. NULL without memory. */
struct aws_credentials *aws_credentials_create(const char *source,
		const char *access_key_id, const char *secret_access_key,
		const char *session_token);
struct aws_credentials *aws_credentials_ref(struct aws_credentials *keys);
void aws_credentials_unref(struct aws_credentials *keys);
bool aws_credentials_equal(const struct aws_credentials *a,
		const struct aws_credentials *b);

/* "AKID…1234" for people. */
void aws_credentials_print(
		const struct aws_credentials *keys, char *buffer, size_t size);

/*
 * Where keys come from: the first provider in a fixed order that has some. The
 * one that had some is asked again when its files change.
 */
struct aws_chain;

struct aws_chain_settings {
	const char *profile; /* NULL: AWS_PROFILE, else "default". */
};

/*
 * -EACCES: nobody has keys; `message` says who was asked. -EINVAL: the profile
 * that was named is not there, or a provider has half of what it needs.
 */
int aws_chain_create(const struct aws_chain_settings *settings,
		struct aws_chain **out_chain, char *message,
		size_t message_size);
void aws_chain_destroy(struct aws_chain *chain);

/* The keys to sign with now, with a reference; never NULL. Looks at the files
 * at most once a second. */
struct aws_credentials *aws_chain_get(struct aws_chain *chain);

/* `used` were refused: looks again. True when there are others now. While a
 * file is gone or half written the old keys stay. */
bool aws_chain_refresh(
		struct aws_chain *chain, const struct aws_credentials *used);

#endif
