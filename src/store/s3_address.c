#include "s3_address_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/url.h"

#define TEXT_LIMIT 8192
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

bool s3_bucket_is_valid(const char *bucket)
{
	const size_t length = strlen(bucket);

	if (length == 0 || length > 255 || strncmp(bucket, "arn:", 4) == 0) {
		return false;
	}
	return strspn(bucket, LOWER UPPER DIGITS) > 0 &&
	       strspn(bucket, LOWER UPPER DIGITS ".-_:") == length;
}

bool s3_region_is_valid(const char *region)
{
	const size_t length = strlen(region);

	return length > 0 && length <= 63 &&
	       strspn(region, LOWER UPPER DIGITS "-_.") == length;
}

/* Amazon's are part of the host's name. */
static bool is_aws_region(const char *region)
{
	return strspn(region, LOWER DIGITS "-") == strlen(region);
}

/* A single DNS label that a wildcard certificate covers. */
static bool is_label(const char *bucket)
{
	const size_t length = strlen(bucket);

	return length >= 3 && length <= 63 && bucket[0] != '-' &&
	       bucket[length - 1] != '-' &&
	       strspn(bucket, LOWER DIGITS "-") == length;
}

static bool is_host_name(const char *bucket)
{
	return strspn(bucket, LOWER UPPER DIGITS ".-_") == strlen(bucket) &&
	       strstr(bucket, "..") == NULL;
}

static bool is_ip_address(const char *host)
{
	return host[0] == '[' || strspn(host, DIGITS ".") == strlen(host);
}

static const char *aws_domain(const char *region)
{
	return strncmp(region, "cn-", 3) == 0 ? "amazonaws.com.cn"
					      : "amazonaws.com";
}

static int complain(char *message, size_t size, const char *text)
{
	(void)snprintf(message, size, "%s", text); /* Cut is fine. */
	return -EINVAL;
}

/* The path of the endpoint without trailing slashes, in our own encoding. */
static int add_base_path(struct strbuf *out, const char *path)
{
	size_t length = strlen(path);
	struct strbuf plain;

	while (length > 0 && path[length - 1] == '/') {
		length--;
	}
	strbuf_init(&plain, TEXT_LIMIT);
	int error = url_decode(&plain, path, length);
	if (error == 0 && plain.length > 0) {
		error = url_encode(out, plain.text, plain.length, true);
	}
	strbuf_finish(&plain);
	return error;
}

static int parse_endpoint(const char *endpoint, struct url *url, char *message,
		size_t size)
{
	int error = url_parse(endpoint, url);

	if (error == -ENOMEM) {
		return error;
	}
	if (error != 0) {
		return complain(message, size,
				"the endpoint is not an http:// or https:// "
				"URL without user and password");
	}
	if (url->query != NULL) {
		url_finish(url);
		return complain(message, size,
				"the endpoint has a query; give the URL "
				"without it");
	}
	return 0;
}

static bool wants_path(const struct s3_place *place)
{
	if (place->path_style >= 0) {
		return place->path_style > 0;
	}
	return place->endpoint != NULL || !is_label(place->bucket);
}

static int add_bucket(struct strbuf *path, const char *bucket)
{
	(void)strbuf_add_char(path, '/');
	(void)url_encode(path, bucket, strlen(bucket), false);
	return path->failed ? -ENOMEM : 0;
}

static int make_aws(const struct s3_place *place, bool path_style,
		struct strbuf *host)
{
	if (!path_style) {
		(void)strbuf_printf(host, "%s.", place->bucket);
	}
	return strbuf_printf(host, "s3.%s.%s", place->region,
			aws_domain(place->region));
}

static int make_custom(const struct s3_place *place, bool path_style,
		struct strbuf *host, struct strbuf *path, char **scheme,
		char *message, size_t size)
{
	struct url url = {0};
	int error = parse_endpoint(place->endpoint, &url, message, size);

	if (error != 0) {
		return error;
	}
	if (!path_style && is_ip_address(url.host)) {
		error = complain(message, size,
				"an endpoint that is an IP address has no "
				"virtual hosts; leave path_style on");
		goto out;
	}
	if (!path_style) {
		(void)strbuf_printf(host, "%s.", place->bucket);
	}
	error = url_host_header(&url, host);
	error = error != 0 ? error : add_base_path(path, url.path);
	if (error == -EINVAL) {
		(void)complain(message, size,
				"the endpoint's path has a bad percent escape");
	}
	*scheme = strdup(url.scheme);
out:
	url_finish(&url);
	return error;
}

static int check_place(const struct s3_place *place, bool path_style,
		char *message, size_t size)
{
	if (!s3_bucket_is_valid(place->bucket)) {
		return complain(message, size, "not the name of a bucket");
	}
	if (!s3_region_is_valid(place->region) ||
			(place->endpoint == NULL &&
					!is_aws_region(place->region))) {
		(void)snprintf(message, size,
				"region %.64s: not the name of a region, like "
				"eu-west-1",
				place->region);
		return -EINVAL;
	}
	if (!path_style && !is_host_name(place->bucket)) {
		return complain(message, size,
				"this bucket cannot be part of a host name; "
				"leave path_style on");
	}
	return 0;
}

int s3_address_make(const struct s3_place *place,
		struct s3_address *out_address, char *message,
		size_t message_size)
{
	const bool path_style = wants_path(place);
	struct s3_address made = {.path_style = path_style,
			.is_aws = place->endpoint == NULL};
	struct strbuf host, path;
	int error = check_place(place, path_style, message, message_size);

	if (error != 0) {
		return error;
	}
	strbuf_init(&host, TEXT_LIMIT);
	strbuf_init(&path, TEXT_LIMIT);
	if (made.is_aws) {
		error = make_aws(place, path_style, &host);
		made.scheme = strdup("https");
	} else {
		error = make_custom(place, path_style, &host, &path,
				&made.scheme, message, message_size);
	}
	if (error == 0 && path_style) {
		error = add_bucket(&path, place->bucket);
	}
	(void)strbuf_add_char(&path, '/');
	made.host = strbuf_take(&host);
	made.path = strbuf_take(&path);
	strbuf_finish(&host);
	strbuf_finish(&path);
	if (error == 0 && (made.scheme == NULL || made.host == NULL ||
					  made.path == NULL)) {
		error = -ENOMEM;
	}
	if (error != 0) {
		s3_address_finish(&made);
		return error;
	}
	*out_address = made;
	return 0;
}

void s3_address_finish(struct s3_address *address)
{
	free(address->scheme);
	free(address->host);
	free(address->path);
	*address = (struct s3_address){0};
}

char *s3_address_name(const struct s3_place *place)
{
	struct s3_place by_path = *place;
	struct s3_address address;
	struct strbuf name;
	char ignored[1];

	by_path.path_style = 1;
	if (s3_address_make(&by_path, &address, ignored, sizeof(ignored)) !=
			0) {
		return NULL;
	}
	strbuf_init(&name, TEXT_LIMIT);
	if (address.is_aws) {
		(void)strbuf_printf(&name, "https://s3.%s",
				aws_domain(place->region));
	} else {
		(void)strbuf_printf(
				&name, "%s://%s", address.scheme, address.host);
	}
	/* Without the slash that ends it. */
	(void)strbuf_add(&name, address.path, strlen(address.path) - 1);
	char *text = strbuf_take(&name);

	strbuf_finish(&name);
	s3_address_finish(&address);
	return text;
}

bool s3_address_is_loopback(const struct s3_address *address)
{
	const char *host = address->host;
	const size_t length = strcspn(host, ":");

	if (strncmp(host, "[::1]", 5) == 0) {
		return true;
	}
	if (strncmp(host, "127.", 4) == 0) {
		return strspn(host, DIGITS ".") == length;
	}
	return length == strlen("localhost") &&
	       strncmp(host, "localhost", length) == 0;
}
