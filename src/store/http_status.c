#include "store/http_status.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define RETRY_AFTER_MAX_SECONDS 60
#define LENGTH_OF(table) (sizeof(table) / sizeof((table)[0]))

struct verdict {
	int error;
	enum store_advice advice;
	enum store_repair repair;
};

static const struct {
	enum net_failure failure;
	struct verdict verdict;
} failures[] = {
		{NET_CANCELED, {-ECANCELED, STORE_FINAL, STORE_REPAIR_NONE}},
		{NET_UNREACHABLE, {-EIO, STORE_UNREACHABLE, STORE_REPAIR_NONE}},
		{NET_TIMEOUT, {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{NET_BROKEN, {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{NET_DEAD_IDLE, {-EIO, STORE_RETRY_NOW, STORE_REPAIR_NONE}},
		{NET_TLS, {-EIO, STORE_FINAL, STORE_REPAIR_NONE}},
		{NET_PROTOCOL, {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{NET_INTERNAL, {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
};

/* Codes of S3, Azure Blob and GCS that say more than their status. */
static const struct {
	const char *code;
	struct verdict verdict;
} codes[] = {
		{"SlowDown", {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"SlowDownRead", {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"Throttling", {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"ThrottlingException",
				{-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"RequestThrottled",
				{-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"RequestLimitExceeded",
				{-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"TooManyRequests", {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"BandwidthLimitExceeded",
				{-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"ServerBusy", {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"rateLimitExceeded",
				{-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"userRateLimitExceeded",
				{-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{"RequestTimeout", {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{"RequestTimeoutException",
				{-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{"OperationTimedOut", {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{"OperationAborted", {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{"InternalError", {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{"ServiceUnavailable", {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{"ExpiredToken", {-EACCES, STORE_FINAL,
						 STORE_REPAIR_CREDENTIALS}},
		{"InvalidToken", {-EACCES, STORE_FINAL,
						 STORE_REPAIR_CREDENTIALS}},
		{"TokenRefreshRequired",
				{-EACCES, STORE_FINAL,
						STORE_REPAIR_CREDENTIALS}},
		{"InvalidAccessKeyId",
				{-EACCES, STORE_FINAL,
						STORE_REPAIR_CREDENTIALS}},
		{"SignatureDoesNotMatch",
				{-EACCES, STORE_FINAL,
						STORE_REPAIR_CREDENTIALS}},
		{"AuthenticationFailed",
				{-EACCES, STORE_FINAL,
						STORE_REPAIR_CREDENTIALS}},
		{"AccessDenied", {-EACCES, STORE_FINAL,
						 STORE_REPAIR_CREDENTIALS}},
		{"RequestTimeTooSkewed",
				{-EACCES, STORE_FINAL, STORE_REPAIR_CLOCK}},
		{"AuthorizationHeaderMalformed",
				{-EACCES, STORE_FINAL, STORE_REPAIR_REGION}},
		{"PermanentRedirect", {-EIO, STORE_FINAL, STORE_REPAIR_REGION}},
		{"TemporaryRedirect", {-EIO, STORE_FINAL, STORE_REPAIR_REGION}},
		{"InvalidObjectState",
				{-EACCES, STORE_FINAL, STORE_REPAIR_NONE}},
		{"BlobArchived", {-EACCES, STORE_FINAL, STORE_REPAIR_NONE}},
		{"AccountProblem", {-EACCES, STORE_FINAL, STORE_REPAIR_NONE}},
		{"AllAccessDisabled",
				{-EACCES, STORE_FINAL, STORE_REPAIR_NONE}},
		{"NoSuchBucket", {-EIO, STORE_FINAL, STORE_REPAIR_NONE}},
		{"ContainerNotFound", {-EIO, STORE_FINAL, STORE_REPAIR_NONE}},
};

static const struct {
	int status;
	struct verdict verdict;
} statuses[] = {
		{301, {-EIO, STORE_FINAL, STORE_REPAIR_REGION}},
		{307, {-EIO, STORE_FINAL, STORE_REPAIR_REGION}},
		{401, {-EACCES, STORE_FINAL, STORE_REPAIR_CREDENTIALS}},
		{403, {-EACCES, STORE_FINAL, STORE_REPAIR_CREDENTIALS}},
		{404, {-ENOENT, STORE_FINAL, STORE_REPAIR_NONE}},
		{407, {-EACCES, STORE_FINAL, STORE_REPAIR_NONE}},
		{408, {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{410, {-ENOENT, STORE_FINAL, STORE_REPAIR_NONE}},
		{412, {-ESTALE, STORE_FINAL, STORE_REPAIR_NONE}},
		{425, {-EIO, STORE_RETRY, STORE_REPAIR_NONE}},
		{429, {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
		{501, {-EIO, STORE_FINAL, STORE_REPAIR_NONE}},
		{505, {-EIO, STORE_FINAL, STORE_REPAIR_NONE}},
		{509, {-EIO, STORE_THROTTLED, STORE_REPAIR_NONE}},
};

static struct verdict judge_failure(enum net_failure failure)
{
	for (size_t i = 0; i < LENGTH_OF(failures); i++) {
		if (failures[i].failure == failure) {
			return failures[i].verdict;
		}
	}
	return (struct verdict){.error = -EIO, .advice = STORE_RETRY};
}

static bool judge_code(const char *code, struct verdict *verdict)
{
	for (size_t i = 0; i < LENGTH_OF(codes); i++) {
		if (strcmp(codes[i].code, code) == 0) {
			*verdict = codes[i].verdict;
			return true;
		}
	}
	return false;
}

static struct verdict judge_status(int status, const char *code)
{
	for (size_t i = 0; i < LENGTH_OF(statuses); i++) {
		if (statuses[i].status == status) {
			return statuses[i].verdict;
		}
	}
	/* What is neither a success nor a refusal was not meant for us, or
	 * was cut: it may be better next time. */
	const bool refused = status >= 300 && status < 500;
	const bool bare = status == 400 && code[0] == '\0';
	return (struct verdict){
			.error = -EIO,
			.advice = refused ? STORE_FINAL : STORE_RETRY,
			.repair = bare ? STORE_REPAIR_CREDENTIALS
				       : STORE_REPAIR_NONE,
	};
}

static struct verdict judge_plain(
		const struct net_result *result, const char *code)
{
	const int status = result->response.status;
	struct verdict verdict = {0};
	if (result->failure != NET_OK) {
		return judge_failure(result->failure);
	}
	if (judge_code(code, &verdict)) {
		return verdict;
	}
	if (status == 200 && code[0] == '\0') {
		return verdict;
	}
	return judge_status(status, code);
}

static struct verdict judge_range(
		const struct net_result *result, const char *code)
{
	const int status = result->response.status;
	if (result->failure == NET_OK && code[0] == '\0') {
		if (status == 206) {
			return (struct verdict){0};
		}
		if (status == 200) {
			return (struct verdict){
					-EIO, STORE_RETRY, STORE_REPAIR_NONE};
		}
	}
	struct verdict verdict = judge_plain(result, code);
	if (verdict.error == -ENOENT ||
			(result->failure == NET_OK && status == 416)) {
		verdict = (struct verdict){
				-ESTALE, STORE_FINAL, STORE_REPAIR_NONE};
	}
	return verdict;
}

uint32_t http_status_retry_after_ms(const char *value, int64_t now)
{
	if (value == NULL) {
		return 0;
	}
	int64_t seconds = 0;
	const size_t digits = strspn(value, "0123456789");
	if (digits > 0 && value[digits] == '\0') {
		seconds = digits > 9 ? RETRY_AFTER_MAX_SECONDS
				     : strtol(value, NULL, 10);
	} else if (clock_parse_http(value, &seconds) == 0) {
		seconds -= now;
	}
	if (seconds <= 0) {
		return 0;
	}
	return 1000 *
	       (uint32_t)(seconds < RETRY_AFTER_MAX_SECONDS
					       ? seconds
					       : RETRY_AFTER_MAX_SECONDS);
}

/* The server's own clock decides what its date means. */
static uint32_t read_retry_after(const struct net_response *response)
{
	if (response->request == NULL) {
		return 0;
	}
	int64_t now = (int64_t)(clock_wall_ms() / 1000);
	const char *date = net_response_header(response, "Date");
	if (date != NULL) {
		(void)clock_parse_http(date, &now); /* Else ours. */
	}
	return http_status_retry_after_ms(
			net_response_header(response, "Retry-After"), now);
}

static void fill(const struct net_result *result, struct verdict verdict,
		struct store_outcome *out)
{
	out->error = verdict.error;
	out->advice = verdict.advice;
	out->repair = verdict.repair;
	out->http_status = result->response.status;
	out->answered = result->response.status != 0 ||
			result->failure == NET_PROTOCOL;
	out->first_byte_us = result->first_byte_us;
	out->total_us = result->total_us;
	out->retry_after_ms = 0;
	if (verdict.error != 0 && result->response.status >= 400) {
		out->retry_after_ms = read_retry_after(&result->response);
	}
}

void http_status_judge(const struct net_result *result, const char *code,
		struct store_outcome *out)
{
	fill(result, judge_plain(result, code), out);
}

void http_status_judge_range(const struct net_result *result, const char *code,
		struct store_outcome *out)
{
	fill(result, judge_range(result, code), out);
}
