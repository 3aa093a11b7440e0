#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "s3_address_private.h"
#include "s3_error_private.h"
#include "s3_reply_private.h"

/* Servers refuse from 900 s on. An answer that says so is believed from a
 * minute on; a bare 403, as HEAD gets it, only near that limit. */
#define SKEW_TOLD_SECONDS 60
#define SKEW_GUESSED_SECONDS 600
/* 2020 to 2100: a clock outside that is broken itself. */
#define TIME_LEAST INT64_C(1577836800)
#define TIME_MOST INT64_C(4102444800)

static bool is_one_of(const char *code, const char *const *codes)
{
	for (; *codes != NULL; codes++) {
		if (strcmp(code, *codes) == 0) {
			return true;
		}
	}
	return false;
}

static bool may_be_region(const struct s3_refusal *refusal)
{
	static const char *const codes[] = {"", "AuthorizationHeaderMalformed",
			"IllegalLocationConstraintException",
			"PermanentRedirect", NULL};

	switch (refusal->status) {
	case 301:
	case 302:
	case 307:
	case 308:
		return true;
	case 400:
	case 403:
		return is_one_of(refusal->error->code, codes);
	default:
		return false;
	}
}

static bool find_region(const struct s3_sent *sent,
		const struct s3_refusal *refusal, struct s3_remedy *remedy)
{
	const char *region = refusal->region_header;

	if (!may_be_region(refusal)) {
		return false;
	}
	if (region == NULL || region[0] == '\0') {
		region = refusal->error->region;
	}
	if (!s3_region_is_valid(region) || strcmp(region, sent->region) == 0) {
		return false;
	}
	remedy->repair = STORE_REPAIR_REGION;
	(void)snprintf(remedy->region, sizeof(remedy->region), "%s", region);
	return true;
}

static bool find_clock(const struct s3_sent *sent,
		const struct s3_refusal *refusal, struct s3_remedy *remedy)
{
	const bool told = strcmp(refusal->error->code,
					  "RequestTimeTooSkewed") == 0;
	const bool guessed = refusal->status == 403 &&
			     refusal->error->code[0] == '\0';
	int64_t now = 0;

	if ((!told && !guessed) || refusal->date == NULL ||
			clock_parse_http(refusal->date, &now) != 0 ||
			now < TIME_LEAST || now > TIME_MOST) {
		return false;
	}
	const int64_t skew =
			now > sent->time ? now - sent->time : sent->time - now;
	if (skew < (told ? SKEW_TOLD_SECONDS : SKEW_GUESSED_SECONDS)) {
		return false;
	}
	remedy->repair = STORE_REPAIR_CLOCK;
	remedy->server_time = now;
	return true;
}

static bool may_be_credentials(const struct s3_refusal *refusal)
{
	static const char *const codes[] = {"", "ExpiredToken",
			"ExpiredTokenException", "InvalidToken",
			"TokenRefreshRequired", NULL};

	if (refusal->status == 401 || refusal->status == 403) {
		return true;
	}
	return refusal->status == 400 && is_one_of(refusal->error->code, codes);
}

void s3_diagnose(const struct s3_sent *sent, const struct s3_refusal *refusal,
		struct s3_remedy *out_remedy)
{
	*out_remedy = (struct s3_remedy){.repair = STORE_REPAIR_NONE};
	if (find_region(sent, refusal, out_remedy) || !sent->is_signed) {
		return;
	}
	if (find_clock(sent, refusal, out_remedy)) {
		return;
	}
	if (may_be_credentials(refusal)) {
		out_remedy->repair = STORE_REPAIR_CREDENTIALS;
	}
}
