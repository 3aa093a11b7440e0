#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "store/http_status.h"

/* Net's headers are scripted here: a request is its Retry-After value. */
const char *net_response_header(
		const struct net_response *response, const char *name)
{
	return strcmp(name, "Retry-After") == 0
			       ? (const char *)response->request
			       : NULL;
}

struct row {
	enum net_failure failure;
	int status;
	const char *code;
	int error;
	enum store_advice advice;
	enum store_repair repair;
};

static void check_table(const struct row *rows, size_t count,
		void (*judge)(const struct net_result *, const char *,
				struct store_outcome *))
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		const struct net_result result = {
				.failure = row->failure,
				.response = {.status = row->status},
				.first_byte_us = 7,
				.total_us = 9,
				.detail = "",
		};
		struct store_outcome out = {.error = 1};
		judge(&result, row->code, &out);
		cr_expect_eq(out.error, row->error, "%d %s: error %d",
				row->status, row->code, out.error);
		cr_expect_eq(out.repair, row->repair, "%d %s: repair %d",
				row->status, row->code, (int)out.repair);
		cr_expect_eq(out.http_status, row->status);
		cr_expect_eq(out.first_byte_us, 7);
		cr_expect_eq(out.total_us, 9);
		if (row->error != 0) {
			cr_expect_eq(out.advice, row->advice,
					"%d %s: advice %d", row->status,
					row->code, (int)out.advice);
		}
	}
}

#define NONE STORE_REPAIR_NONE
#define CREDENTIALS STORE_REPAIR_CREDENTIALS

/* True of stats, listings and ranges alike. */
static const struct row common[] = {
		{NET_CANCELED, 0, "", -ECANCELED, STORE_FINAL, NONE},
		{NET_CANCELED, 200, "", -ECANCELED, STORE_FINAL, NONE},
		{NET_UNREACHABLE, 0, "", -EIO, STORE_UNREACHABLE, NONE},
		{NET_TIMEOUT, 0, "", -EIO, STORE_RETRY, NONE},
		{NET_TIMEOUT, 200, "", -EIO, STORE_RETRY, NONE},
		{NET_TIMEOUT, 206, "", -EIO, STORE_RETRY, NONE},
		{NET_BROKEN, 206, "", -EIO, STORE_RETRY, NONE},
		{NET_BROKEN, 404, "", -EIO, STORE_RETRY, NONE},
		{NET_DEAD_IDLE, 0, "", -EIO, STORE_RETRY_NOW, NONE},
		{NET_TLS, 0, "", -EIO, STORE_FINAL, NONE},
		{NET_PROTOCOL, 0, "", -EIO, STORE_RETRY, NONE},
		{NET_INTERNAL, 0, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 0, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 204, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 200, "InternalError", -EIO, STORE_RETRY, NONE},
		{NET_OK, 200, "SlowDown", -EIO, STORE_THROTTLED, NONE},
		{NET_OK, 200, "Unheard", -EIO, STORE_RETRY, NONE},
		{NET_OK, 206, "Unheard", -EIO, STORE_RETRY, NONE},
		{NET_OK, 301, "", -EIO, STORE_FINAL, STORE_REPAIR_REGION},
		{NET_OK, 301, "PermanentRedirect", -EIO, STORE_FINAL,
				STORE_REPAIR_REGION},
		{NET_OK, 302, "", -EIO, STORE_FINAL, NONE},
		{NET_OK, 304, "", -EIO, STORE_FINAL, NONE},
		{NET_OK, 307, "TemporaryRedirect", -EIO, STORE_FINAL,
				STORE_REPAIR_REGION},
		{NET_OK, 400, "", -EIO, STORE_FINAL, CREDENTIALS},
		{NET_OK, 400, "InvalidArgument", -EIO, STORE_FINAL, NONE},
		{NET_OK, 400, "RequestTimeout", -EIO, STORE_RETRY, NONE},
		{NET_OK, 400, "ExpiredToken", -EACCES, STORE_FINAL,
				CREDENTIALS},
		{NET_OK, 400, "InvalidToken", -EACCES, STORE_FINAL,
				CREDENTIALS},
		{NET_OK, 400, "AuthorizationHeaderMalformed", -EACCES,
				STORE_FINAL, STORE_REPAIR_REGION},
		{NET_OK, 401, "", -EACCES, STORE_FINAL, CREDENTIALS},
		{NET_OK, 403, "", -EACCES, STORE_FINAL, CREDENTIALS},
		{NET_OK, 403, "AccessDenied", -EACCES, STORE_FINAL,
				CREDENTIALS},
		{NET_OK, 403, "SignatureDoesNotMatch", -EACCES, STORE_FINAL,
				CREDENTIALS},
		{NET_OK, 403, "InvalidAccessKeyId", -EACCES, STORE_FINAL,
				CREDENTIALS},
		{NET_OK, 403, "RequestTimeTooSkewed", -EACCES, STORE_FINAL,
				STORE_REPAIR_CLOCK},
		{NET_OK, 403, "InvalidObjectState", -EACCES, STORE_FINAL, NONE},
		{NET_OK, 403, "rateLimitExceeded", -EIO, STORE_THROTTLED, NONE},
		{NET_OK, 404, "NoSuchBucket", -EIO, STORE_FINAL, NONE},
		{NET_OK, 404, "ContainerNotFound", -EIO, STORE_FINAL, NONE},
		{NET_OK, 405, "MethodNotAllowed", -EIO, STORE_FINAL, NONE},
		{NET_OK, 408, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 409, "BlobArchived", -EACCES, STORE_FINAL, NONE},
		{NET_OK, 409, "OperationAborted", -EIO, STORE_RETRY, NONE},
		{NET_OK, 412, "PreconditionFailed", -ESTALE, STORE_FINAL, NONE},
		{NET_OK, 412, "", -ESTALE, STORE_FINAL, NONE},
		{NET_OK, 429, "", -EIO, STORE_THROTTLED, NONE},
		{NET_OK, 500, "InternalError", -EIO, STORE_RETRY, NONE},
		{NET_OK, 500, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 501, "NotImplemented", -EIO, STORE_FINAL, NONE},
		{NET_OK, 502, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 503, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 503, "ServiceUnavailable", -EIO, STORE_RETRY, NONE},
		{NET_OK, 503, "SlowDown", -EIO, STORE_THROTTLED, NONE},
		{NET_OK, 503, "ServerBusy", -EIO, STORE_THROTTLED, NONE},
		{NET_OK, 504, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 599, "", -EIO, STORE_RETRY, NONE},
};

static const struct row plain[] = {
		{NET_OK, 200, "", 0, STORE_FINAL, NONE},
		{NET_OK, 206, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 404, "", -ENOENT, STORE_FINAL, NONE},
		{NET_OK, 404, "NoSuchKey", -ENOENT, STORE_FINAL, NONE},
		{NET_OK, 404, "BlobNotFound", -ENOENT, STORE_FINAL, NONE},
		{NET_OK, 410, "", -ENOENT, STORE_FINAL, NONE},
		{NET_OK, 416, "", -EIO, STORE_FINAL, NONE},
};

static const struct row range[] = {
		{NET_OK, 206, "", 0, STORE_FINAL, NONE},
		{NET_OK, 200, "", -EIO, STORE_RETRY, NONE},
		{NET_OK, 404, "", -ESTALE, STORE_FINAL, NONE},
		{NET_OK, 404, "NoSuchKey", -ESTALE, STORE_FINAL, NONE},
		{NET_OK, 410, "", -ESTALE, STORE_FINAL, NONE},
		{NET_OK, 416, "InvalidRange", -ESTALE, STORE_FINAL, NONE},
		{NET_OK, 416, "", -ESTALE, STORE_FINAL, NONE},
		{NET_BROKEN, 416, "", -EIO, STORE_RETRY, NONE},
};

#define CHECK(table, judge)                                                    \
	check_table(table, sizeof(table) / sizeof((table)[0]), judge)

Test(http_status, each_answer_to_a_stat_or_list_has_its_errno)
{
	CHECK(common, http_status_judge);
	CHECK(plain, http_status_judge);
}

Test(http_status, each_answer_to_a_range_has_its_errno)
{
	CHECK(common, http_status_judge_range);
	CHECK(range, http_status_judge_range);
}

Test(http_status, a_status_line_is_an_answer)
{
	struct net_result result = {.failure = NET_TIMEOUT, .detail = ""};
	struct store_outcome out = {.answered = true};
	http_status_judge(&result, "", &out);
	cr_expect(!out.answered);
	result.response.status = 503;
	http_status_judge(&result, "", &out);
	cr_expect(out.answered);
}

Test(http_status, retry_after_is_read_from_errors_only)
{
	struct net_result result = {
			.response = {.status = 503,
					.request = (struct net_request *)"7"},
			.detail = "",
	};
	struct store_outcome out = {0};
	http_status_judge(&result, "SlowDown", &out);
	cr_expect_eq(out.retry_after_ms, 7000);
	result.response.status = 200;
	http_status_judge(&result, "", &out);
	cr_expect_eq(out.retry_after_ms, 0);
}

Test(http_status, retry_after_is_seconds_or_a_date_up_to_a_minute)
{
	const char *date = "Sun, 06 Nov 1994 08:49:37 GMT";
	cr_expect_eq(http_status_retry_after_ms(NULL, 0), 0);
	cr_expect_eq(http_status_retry_after_ms("", 0), 0);
	cr_expect_eq(http_status_retry_after_ms("0", 0), 0);
	cr_expect_eq(http_status_retry_after_ms("2", 0), 2000);
	cr_expect_eq(http_status_retry_after_ms("61", 0), 60000);
	cr_expect_eq(http_status_retry_after_ms("99999999999999999999", 0),
			60000);
	cr_expect_eq(http_status_retry_after_ms("-5", 0), 0);
	cr_expect_eq(http_status_retry_after_ms("5 s", 0), 0);
	cr_expect_eq(http_status_retry_after_ms(date, 784111770), 7000);
	cr_expect_eq(http_status_retry_after_ms(date, 784111778), 0);
	cr_expect_eq(http_status_retry_after_ms(date, 0), 60000);
}
