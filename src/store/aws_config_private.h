#ifndef STORE_AWS_CONFIG_PRIVATE_H
#define STORE_AWS_CONFIG_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The shared files of the AWS SDKs, ~/.aws/config and ~/.aws/credentials: what
 * one profile says. General INI readers do not fit: their lines are too short
 * for session tokens, and they know no nested settings.
 */
enum aws_file { AWS_FILE_CONFIG, AWS_FILE_CREDENTIALS };

struct aws_profile {
	bool found;
	char *access_key_id;
	char *secret_access_key;
	char *session_token;
	char *region;
	char *endpoint_url;
	char *services;	       /* Name of a [services NAME] section. */
	char *s3_endpoint_url; /* From that section, or nested under s3. */
	/* Ways to come to credentials that are not followed: a setting that
	 * makes the profile's own keys not the ones to use, and one that would
	 * be used if it had none. NULL, or the setting's name. */
	const char *instead_of_keys;
	const char *without_keys;
};

#define AWS_FILE_MAX_SIZE (1024 * 1024)

/*
 * Lays what `text` says about the profile over what is there. Lines that make
 * no sense are passed over, as the SDKs do. -ENOMEM.
 */
int aws_config_parse(const char *text, size_t length, enum aws_file file,
		const char *profile, struct aws_profile *inout_profile);

/* Wipes and frees. */
void aws_profile_finish(struct aws_profile *profile);

/* Frees a text with a secret in it. */
void aws_free_secret(char *text);

#endif
