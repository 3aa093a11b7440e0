#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aws_config_private.h"
#include "aws_credentials_private.h"
#include "aws_environment_private.h"
#include "aws_files_private.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"

#define LOG_MODULE "store"
#define LOOK_INTERVAL_MS 1000
#define WARN_INTERVAL_MS 60000
#define MESSAGE_SIZE 512

struct provider;

struct aws_chain {
	/* Set at creation: */
	struct aws_files files;
	bool profile_is_option; /* Then it goes before the environment. */
	const struct provider *provider; /* That had keys. */
	/* Guarded by lock, which is not held while files are read: */
	pthread_mutex_t lock;
	struct aws_credentials *keys;
	struct aws_file_stamp stamps[2]; /* Of the files they came from. */
	uint64_t looked_ms;
	bool is_looking; /* A thread reads the files. */
	unsigned long long warned;
	pthread_cond_t looked; /* It is over. */
};

/*
 * A provider has keys (0), has none (-ENOENT, and adds its reason to `tried`),
 * or finds what must not be passed over (-EINVAL, with `message`).
 */
struct provider {
	int (*load)(const struct aws_chain *chain,
			struct aws_credentials **out_keys, struct strbuf *tried,
			char *message);
	bool reads_files;
};

static int give(const char *source, const char *id, const char *secret,
		const char *token, struct aws_credentials **out_keys)
{
	*out_keys = aws_credentials_create(source, id, secret, token);
	return *out_keys != NULL ? 0 : -ENOMEM;
}

static int load_environment(const struct aws_chain *chain,
		struct aws_credentials **out_keys, struct strbuf *tried,
		char *message)
{
	const char *id = aws_environment_get("AWS_ACCESS_KEY_ID");
	const char *secret = aws_environment_get("AWS_SECRET_ACCESS_KEY");
	const char *token = aws_environment_get("AWS_SESSION_TOKEN");

	if (chain->profile_is_option) {
		(void)strbuf_add_text(tried,
				"the environment (passed over for the named "
				"profile)");
		return -ENOENT;
	}
	if (id == NULL && secret == NULL) {
		(void)strbuf_add_text(tried,
				"the environment (AWS_ACCESS_KEY_ID not set)");
		return -ENOENT;
	}
	if (id == NULL || secret == NULL) {
		(void)snprintf(message, MESSAGE_SIZE, "%s is set but %s is not",
				id != NULL ? "AWS_ACCESS_KEY_ID"
					   : "AWS_SECRET_ACCESS_KEY",
				id != NULL ? "AWS_SECRET_ACCESS_KEY"
					   : "AWS_ACCESS_KEY_ID");
		return -EINVAL;
	}
	if (token == NULL) {
		token = aws_environment_get("AWS_SECURITY_TOKEN");
	}
	return give("environment", id, secret, token, out_keys);
}

/* Signing with other keys than the ones that were set up would be a surprise,
 * and at best a refusal that does not say why. */
static int load_unsupported(const struct aws_chain *chain,
		struct aws_credentials **out_keys, struct strbuf *tried,
		char *message)
{
	static const char *const names[] = {"AWS_WEB_IDENTITY_TOKEN_FILE",
			"AWS_CONTAINER_CREDENTIALS_FULL_URI",
			"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"};
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (aws_environment_get(names[i]) != NULL) {
			(void)strbuf_printf(tried,
					"%s%s (not supported in this version)",
					any ? ", " : "", names[i]);
			any = true;
		}
	}
	return -ENOENT;
}

static void add_file(
		struct strbuf *tried, const char *path, const char *profile)
{
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0) {
		(void)strbuf_printf(tried, "%s (no keys in profile \"%s\")",
				path, profile);
	} else {
		(void)strbuf_printf(tried, "%s (%s)",
				path[0] != '\0' ? path : "~/.aws",
				errno == EACCES ? "may not be read"
						: "not there");
	}
}

static int load_profile(const struct aws_chain *chain,
		const struct aws_profile *profile,
		struct aws_credentials **out_keys, struct strbuf *tried,
		char *message)
{
	const char *unsupported = profile->instead_of_keys;

	if (profile->access_key_id == NULL && unsupported == NULL) {
		unsupported = profile->without_keys;
	}
	if (unsupported != NULL) {
		(void)snprintf(message, MESSAGE_SIZE,
				"profile \"%s\" has %s, which is not "
				"supported in this version; give its keys in "
				"the environment",
				chain->files.profile, unsupported);
		return -EINVAL;
	}
	if ((profile->access_key_id == NULL) !=
			(profile->secret_access_key == NULL)) {
		(void)snprintf(message, MESSAGE_SIZE,
				"profile \"%s\" has no %s",
				chain->files.profile,
				profile->access_key_id == NULL
						? "aws_access_key_id"
						: "aws_secret_access_key");
		return -EINVAL;
	}
	if (profile->access_key_id == NULL) {
		add_file(tried, chain->files.credentials_path,
				chain->files.profile);
		(void)strbuf_add_text(tried, ", ");
		add_file(tried, chain->files.config_path, chain->files.profile);
		return -ENOENT;
	}
	return give("shared files", profile->access_key_id,
			profile->secret_access_key, profile->session_token,
			out_keys);
}

static int load_files(const struct aws_chain *chain,
		struct aws_credentials **out_keys, struct strbuf *tried,
		char *message)
{
	struct aws_profile profile = {0};
	int error = aws_files_read(
			&chain->files, &profile, message, MESSAGE_SIZE);

	if (error == 0) {
		error = load_profile(chain, &profile, out_keys, tried, message);
	}
	aws_profile_finish(&profile);
	return error;
}

/* In the order of the AWS SDKs. */
static const struct provider providers[] = {
		{load_environment, false},
		{load_unsupported, false},
		{load_files, true},
};
#define PROVIDER_COUNT (sizeof(providers) / sizeof(providers[0]))

static int find_provider(struct aws_chain *chain, char *message)
{
	struct strbuf tried;
	int error = -ENOENT;

	strbuf_init(&tried, MESSAGE_SIZE);
	for (size_t i = 0; i < PROVIDER_COUNT && error == -ENOENT; i++) {
		const size_t length = tried.length;
		aws_files_stamp(&chain->files, chain->stamps);
		error = providers[i].load(chain, &chain->keys, &tried, message);
		chain->provider = &providers[i];
		if (error == -ENOENT && tried.length > length &&
				i + 1 < PROVIDER_COUNT) {
			(void)strbuf_add_text(&tried, ", ");
		}
	}
	if (error == -ENOENT) {
		error = -EACCES;
		(void)snprintf(message, MESSAGE_SIZE,
				"no AWS credentials: tried %s; set them or "
				"use --anonymous",
				tried.text != NULL ? tried.text : "nothing");
	}
	strbuf_finish(&tried);
	return error;
}

int aws_chain_create(const struct aws_chain_settings *settings,
		struct aws_chain **out_chain, char *message,
		size_t message_size)
{
	char text[MESSAGE_SIZE] = "";
	struct aws_chain *chain = calloc(1, sizeof(*chain));

	if (chain == NULL) {
		return -ENOMEM;
	}
	(void)pthread_mutex_init(&chain->lock, NULL);  /* Cannot fail. */
	(void)pthread_cond_init(&chain->looked, NULL); /* Likewise. */
	chain->profile_is_option = settings->profile != NULL;
	int error = aws_files_init(&chain->files, settings->profile);

	error = error != 0 ? error : find_provider(chain, text);
	if (error != 0) {
		(void)snprintf(message, message_size, "%s", text);
		aws_chain_destroy(chain);
		return error;
	}
	chain->looked_ms = clock_monotonic_ms();
	*out_chain = chain;
	return 0;
}

void aws_chain_destroy(struct aws_chain *chain)
{
	if (chain == NULL) {
		return;
	}
	aws_credentials_unref(chain->keys);
	aws_files_finish(&chain->files);
	(void)pthread_cond_destroy(&chain->looked); /* Nobody waits. */
	(void)pthread_mutex_destroy(&chain->lock);  /* Nobody holds it. */
	free(chain);
}

/* NULL when they give no keys now. */
static struct aws_credentials *read_again(struct aws_chain *chain)
{
	struct aws_credentials *keys = NULL;
	char message[MESSAGE_SIZE] = "";
	struct strbuf tried;

	strbuf_init(&tried, MESSAGE_SIZE);
	const int error = chain->provider->load(chain, &keys, &tried, message);
	if (error != 0 && log_ratelimit(&chain->warned, WARN_INTERVAL_MS)) {
		log_warn("keeping the old credentials: %s",
				message[0] != '\0' ? message
						   : "there are no others");
	}
	strbuf_finish(&tried);
	return error == 0 ? keys : NULL;
}

/* A file that is being written has half of what it will: the stamps of files
 * without keys are not kept, so they are read again. */
static void look(struct aws_chain *chain)
{
	struct aws_file_stamp now[2];
	struct aws_credentials *fresh = NULL;

	aws_files_stamp(&chain->files, now);
	(void)pthread_mutex_lock(&chain->lock);
	const bool changed = !aws_stamps_equal(now, chain->stamps);
	(void)pthread_mutex_unlock(&chain->lock);
	if (changed) {
		fresh = read_again(chain);
	}
	LOCK_SCOPE(&chain->lock);
	chain->is_looking = false;
	(void)pthread_cond_broadcast(&chain->looked); /* Cannot fail. */
	if (fresh == NULL) {
		return;
	}
	memcpy(chain->stamps, now, sizeof(chain->stamps));
	aws_credentials_unref(chain->keys);
	chain->keys = fresh;
}

/* One thread looks; others go on with the keys there are. */
static bool begin_look(struct aws_chain *chain)
{
	const uint64_t now = clock_monotonic_ms();

	LOCK_SCOPE(&chain->lock);
	if (!chain->provider->reads_files || chain->is_looking ||
			now - chain->looked_ms < LOOK_INTERVAL_MS) {
		return false;
	}
	chain->is_looking = true;
	chain->looked_ms = now;
	return true;
}

/* As above, but what another thread is reading is waited for. */
static bool begin_refresh(
		struct aws_chain *chain, const struct aws_credentials *used)
{
	LOCK_SCOPE(&chain->lock);
	while (chain->is_looking) {
		(void)pthread_cond_wait(&chain->looked, &chain->lock);
	}
	if (!chain->provider->reads_files ||
			!aws_credentials_equal(chain->keys, used)) {
		return false;
	}
	chain->is_looking = true;
	chain->looked_ms = clock_monotonic_ms();
	return true;
}

struct aws_credentials *aws_chain_get(struct aws_chain *chain)
{
	if (begin_look(chain)) {
		look(chain);
	}
	LOCK_SCOPE(&chain->lock);
	return aws_credentials_ref(chain->keys);
}

bool aws_chain_refresh(
		struct aws_chain *chain, const struct aws_credentials *used)
{
	if (begin_refresh(chain, used)) {
		look(chain);
	}
	LOCK_SCOPE(&chain->lock);
	return !aws_credentials_equal(chain->keys, used);
}
