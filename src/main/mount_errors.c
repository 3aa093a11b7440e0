#include "main/mount_errors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has(const char *detail, const char *word)
{
	return strcasestr(detail, word) != NULL;
}

static bool has_any(const char *detail, const char *const *words)
{
	for (; *words != NULL; words++) {
		if (has(detail, *words)) {
			return true;
		}
	}
	return false;
}

/* Three digits at the beginning: the store answered. */
static int status_of(const char *detail)
{
	char *end = NULL;
	long status = strtol(detail, &end, 10);

	return end == detail + 3 && status >= 100 && status < 600 ? (int)status
								  : 0;
}

static enum mount_fault judge_denied(const char *detail)
{
	static const char *const secret[] = {"SignatureDoesNotMatch",
			"InvalidAccessKeyId", "AuthenticationFailed", NULL};
	static const char *const expired[] = {"ExpiredToken", "InvalidToken",
			"TokenRefreshRequired", NULL};

	if (has_any(detail, secret)) {
		return MOUNT_FAULT_SECRET;
	}
	return has_any(detail, expired) ? MOUNT_FAULT_EXPIRED
					: MOUNT_FAULT_DENIED;
}

enum mount_fault mount_fault_judge(int error, const char *detail)
{
	static const char *const tls[] = {"certificate", "SSL", "TLS", NULL};
	int status = status_of(detail);

	if (error == 0) {
		return MOUNT_FAULT_NONE;
	}
	if (has(detail, "NoSuchBucket") || has(detail, "InvalidBucketName")) {
		return MOUNT_FAULT_NO_BUCKET;
	}
	if (error == -ENOENT) {
		return MOUNT_FAULT_EMPTY;
	}
	/* A kind of refusal, but not for want of a permission. */
	if (has(detail, "AuthorizationHeaderMalformed")) {
		return MOUNT_FAULT_REGION;
	}
	if (has(detail, "RequestTimeTooSkewed")) {
		return MOUNT_FAULT_CLOCK;
	}
	if (error == -EACCES || error == -EPERM) {
		return judge_denied(detail);
	}
	if (status >= 300 && status < 400) {
		return MOUNT_FAULT_REDIRECT;
	}
	if (status != 0 && status < 500) {
		return MOUNT_FAULT_OTHER;
	}
	if (status == 0 && has_any(detail, tls)) {
		return MOUNT_FAULT_TLS;
	}
	return MOUNT_FAULT_UNREACHABLE;
}

int mount_fault_passes(enum mount_fault fault)
{
	return fault == MOUNT_FAULT_UNREACHABLE;
}

static void text_of_empty(const struct mount_fault_facts *facts, char *message,
		size_t message_size)
{
	const char *neighbours = facts->neighbours;

	if (neighbours[0] != '\0') {
		(void)snprintf(message, message_size,
				"%s: nothing under this prefix; there is %s "
				"(allow_empty mounts it anyway)",
				facts->source, neighbours);
	} else {
		(void)snprintf(message, message_size,
				"%s: nothing under this prefix (allow_empty "
				"mounts it anyway)",
				facts->source);
	}
}

static void text_of_denied(const struct mount_fault_facts *facts, char *message,
		size_t message_size)
{
	(void)snprintf(message, message_size,
			"%s: permission denied (%s); %s; needs s3:ListBucket "
			"on the bucket and s3:GetObject on its objects",
			facts->source, facts->detail, facts->identity);
}

void mount_fault_text(enum mount_fault fault,
		const struct mount_fault_facts *facts, char *message,
		size_t message_size)
{
	const char *remedy = "";

	switch (fault) {
	case MOUNT_FAULT_EMPTY:
		text_of_empty(facts, message, message_size);
		return;
	case MOUNT_FAULT_DENIED:
		text_of_denied(facts, message, message_size);
		return;
	case MOUNT_FAULT_NO_BUCKET:
		remedy = "no such bucket; check its name, endpoint_url and "
			 "region";
		break;
	case MOUNT_FAULT_SECRET:
		remedy = "the access key is unknown or its secret does not "
			 "fit; check AWS_ACCESS_KEY_ID, "
			 "AWS_SECRET_ACCESS_KEY or the profile";
		break;
	case MOUNT_FAULT_EXPIRED:
		remedy = "the credentials have run out; renew them";
		break;
	case MOUNT_FAULT_TLS:
		remedy = "the server's certificate is not trusted; give the "
			 "certificate of its authority with ca_bundle";
		break;
	case MOUNT_FAULT_REGION:
		remedy = "the bucket is in another region; give it with region";
		break;
	case MOUNT_FAULT_CLOCK:
		remedy = "the clock of this machine is wrong; set it";
		break;
	case MOUNT_FAULT_REDIRECT:
		remedy = "the store answered with a redirect, which is not "
			 "followed; give the bucket's region, or check "
			 "endpoint_url";
		break;
	case MOUNT_FAULT_UNREACHABLE:
		remedy = "the store cannot be reached or does not answer; "
			 "check endpoint_url, network and proxy";
		break;
	case MOUNT_FAULT_OTHER:
	case MOUNT_FAULT_NONE:
		remedy = "the store refused the request";
		break;
	}
	(void)snprintf(message, message_size, "%s: %s (%s); %s", facts->source,
			remedy, facts->detail, facts->identity);
}
