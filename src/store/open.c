#include "store/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "aws_config_private.h"
#include "aws_credentials_private.h"
#include "aws_environment_private.h"
#include "aws_files_private.h"
#include "file_store_private.h"
#include "s3_private.h"
#include "source_private.h"

#define DEFAULT_REGION "us-east-1"

/* The first that is set. */
static const char *first_of(const char *a, const char *b, const char *c)
{
	if (a != NULL) {
		return a;
	}
	return b != NULL ? b : c;
}

/* AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is about all but the option. */
static const char *choose_endpoint(const struct store_settings *settings,
		const struct aws_profile *profile)
{
	const char *ignore = aws_environment_get(
			"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");

	if (settings->endpoint_url != NULL) {
		return settings->endpoint_url;
	}
	if (ignore != NULL && strcasecmp(ignore, "true") == 0) {
		return NULL;
	}
	const char *variable = first_of(
			aws_environment_get("AWS_ENDPOINT_URL_S3"),
			aws_environment_get("AWS_ENDPOINT_URL"), NULL);

	return first_of(variable, profile->s3_endpoint_url,
			profile->endpoint_url);
}

static const char *choose_region(const struct store_settings *settings,
		const struct aws_profile *profile)
{
	const char *variable = first_of(aws_environment_get("AWS_REGION"),
			aws_environment_get("AWS_DEFAULT_REGION"), NULL);
	const char *region =
			first_of(settings->region, variable, profile->region);

	return region != NULL ? region : DEFAULT_REGION;
}

static int create_chain(const struct store_settings *settings,
		struct aws_chain **out_chain, char *message, size_t size)
{
	const struct aws_chain_settings chain_settings = {
			.profile = settings->profile};

	*out_chain = NULL;
	if (settings->anonymous) {
		return 0;
	}
	return aws_chain_create(&chain_settings, out_chain, message, size);
}

static int open_with_profile(const struct source *source,
		const struct store_settings *settings,
		const struct aws_profile *profile, struct store **out_store,
		char *message, size_t size)
{
	struct s3_options options = {
			.net = settings->net,
			.counters = settings->counters,
			.bucket = source->bucket,
			.prefix = source->prefix,
			.endpoint = choose_endpoint(settings, profile),
			.region = choose_region(settings, profile),
			.path_style = settings->path_style,
			.requester_pays = settings->requester_pays,
			.sse_c_key_file = settings->sse_c_key_file,
	};
	int error = create_chain(settings, &options.credentials, message, size);

	if (error != 0) {
		return error;
	}
	error = s3_store_create(&options, out_store, message, size);
	if (error != 0) {
		aws_chain_destroy(options.credentials);
	}
	return error;
}

static int open_s3(const struct source *source,
		const struct store_settings *settings, struct store **out_store,
		char *message, size_t size)
{
	struct aws_files files;
	struct aws_profile profile = {0};
	int error = aws_files_init(&files, settings->profile);

	if (error != 0) {
		return error;
	}
	error = aws_files_read(&files, &profile, message, size);
	if (error == 0) {
		error = open_with_profile(source, settings, &profile, out_store,
				message, size);
	}
	aws_profile_finish(&profile);
	aws_files_finish(&files);
	return error;
}

static int open_file(const struct source *source, struct store **out_store,
		char *message, size_t size)
{
	const int error = file_store_create(source->directory, out_store);

	if (error != 0) {
		(void)snprintf(message, size, "%s", strerror(-error));
	}
	return error;
}

/* Puts the SOURCE before the reason. */
static int explain(const char *source, int error, const char *reason,
		char *message, size_t size)
{
	(void)snprintf(message, size, "%s: %s", source,
			reason[0] != '\0' ? reason : strerror(-error));
	return error;
}

int store_open(const char *source, const struct store_settings *settings,
		struct store **out_store, char *message, size_t message_size)
{
	char reason[1024] = "";
	struct source parts;
	int error = source_parse(source, &parts, message, message_size);

	if (error != 0) {
		return error;
	}
	error = parts.kind == SOURCE_S3
				? open_s3(&parts, settings, out_store, reason,
						  sizeof(reason))
				: open_file(&parts, out_store, reason,
						  sizeof(reason));
	source_finish(&parts);
	return error == 0 ? 0
			  : explain(source, error, reason, message,
					    message_size);
}

int store_check_source(const char *source, char *message, size_t message_size)
{
	struct source parts;
	const int error = source_parse(source, &parts, message, message_size);

	if (error == 0) {
		source_finish(&parts);
	}
	return error;
}
