#include "ca_bundle_private.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MODULE "net"
#include "base/log.h"

static bool is_readable(const char *path)
{
	return path != NULL && access(path, R_OK) == 0;
}

/* A libcurl built for another distribution may have a path in it that this
 * machine does not have. */
static bool libcurl_has_its_own(void)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
	return is_readable(info->cainfo) || is_readable(info->capath);
}

static const char *find_known_place(void)
{
	static const char *const places[] = {
			"/etc/ssl/certs/ca-certificates.crt",
			"/etc/pki/tls/certs/ca-bundle.crt",
			"/etc/ssl/ca-bundle.pem",
			"/etc/ssl/cert.pem",
	};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (is_readable(places[i])) {
			return places[i];
		}
	}
	return NULL;
}

static const char *named_by_environment(void)
{
	static const char *const names[] = {
			"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value != NULL && value[0] != '\0') {
			return value;
		}
	}
	return NULL;
}

int ca_bundle_find(const char *option, char **out_path)
{
	const char *path = option != NULL ? option : named_by_environment();
	if (path != NULL && !is_readable(path)) {
		log_error("cannot read CA bundle path=%s", path);
		return -ENOENT;
	}
	if (path == NULL && !libcurl_has_its_own()) {
		path = find_known_place();
	}
	char *copy = NULL;
	if (path != NULL) {
		copy = strdup(path);
		if (copy == NULL) {
			return -ENOMEM;
		}
	}
	*out_path = copy;
	return 0;
}
