#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "../../../src/store/s3_error_private.h"
#include "../../../src/store/s3_reply_private.h"
#include "store/object.h"

Test(s3_reply, content_range_is_strict)
{
	static const struct {
		const char *text;
		int error;
		uint64_t start, end, total;
	} rows[] = {
			{"bytes 0-9/64", 0, 0, 9, 64},
			{"Bytes 63-63/64", 0, 63, 63, 64},
			{"bytes 0-9223372036854775806/9223372036854775807", 0,
					0, INT64_MAX - 1, INT64_MAX},
			{"bytes 5-4/64", -EINVAL, 0, 0, 0},
			{"bytes 0-64/64", -EINVAL, 0, 0, 0},
			{"bytes 0-9/*", -EINVAL, 0, 0, 0},
			{"bytes */64", -EINVAL, 0, 0, 0},
			{"bytes 0-9", -EINVAL, 0, 0, 0},
			{"bytes 0-9/", -EINVAL, 0, 0, 0},
			{"bytes -9/64", -EINVAL, 0, 0, 0},
			{"bytes +0-9/64", -EINVAL, 0, 0, 0},
			{"bytes 0 -9/64", -EINVAL, 0, 0, 0},
			{"bytes 0-9/64 ", -EINVAL, 0, 0, 0},
			{"bytes=0-9/64", -EINVAL, 0, 0, 0},
			{"items 0-9/64", -EINVAL, 0, 0, 0},
			{"", -EINVAL, 0, 0, 0},
			{"bytes 18446744073709551615-1/2", -EINVAL, 0, 0, 0},
			{"bytes 18446744073709551616-1/2", -EINVAL, 0, 0, 0},
			{"bytes 0-000000000000000000000000000009/64", -EINVAL,
					0, 0, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct s3_content_range range = {0};
		cr_expect_eq(s3_content_range_parse(rows[i].text, &range),
				rows[i].error, "%s", rows[i].text);
		cr_expect_eq(range.start, rows[i].start);
		cr_expect_eq(range.end, rows[i].end);
		cr_expect_eq(range.total, rows[i].total);
	}
}

#define MTIME 784111777
#define MTIME_TEXT "Sun, 06 Nov 1994 08:49:37 GMT"
#define LATER_TEXT "Sun, 06 Nov 1994 08:49:38 GMT"

Test(s3_reply, range_is_believed_only_as_asked)
{
	/* The range [10, 20) of an object of 100 bytes. */
	static const struct {
		const char *object_etag;
		struct s3_range_answer answer;
		int error; /* 0: believed. */
	} rows[] = {
			{"\"e\"", {206, "bytes 10-19/100", 10, "\"e\"", NULL},
					0},
			{"\"e\"", {206, "bytes 10-19/100", -1, "e", NULL}, 0},
			{"\"e\"",
					{206, "bytes 10-19/100", 10, "\"e\"",
							LATER_TEXT},
					0},
			{"\"e\"", {200, "bytes 10-19/100", 10, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, NULL, 10, "\"e\"", NULL}, -EIO},
			{"\"e\"", {206, "bytes 10-19", 10, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 9-18/100", 10, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 11-20/100", 10, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-18/100", 9, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-29/100", 20, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-19/101", 10, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-19/*", 10, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-19/100", 9, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-19/100", 0, "\"e\"", NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-19/100", 10, NULL, NULL},
					-EIO},
			{"\"e\"", {206, "bytes 10-19/100", 10, "\"f\"", NULL},
					-ESTALE},
			{"\"e\"", {206, "bytes 10-19/100", 10, "W/\"e\"", NULL},
					-ESTALE},
			/* Weak: the time must agree as well. */
			{"W/\"e\"",
					{206, "bytes 10-19/100", 10, "W/\"e\"",
							MTIME_TEXT},
					0},
			{"W/\"e\"",
					{206, "bytes 10-19/100", 10, "W/\"e\"",
							LATER_TEXT},
					-ESTALE},
			{"", {206, "bytes 10-19/100", 10, NULL, MTIME_TEXT}, 0},
			{"", {206, "bytes 10-19/100", 10, NULL, LATER_TEXT},
					-ESTALE},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int error = 0;
		struct object *object = object_create(
				NULL, "k", rows[i].object_etag, 100, MTIME);
		const char *problem = s3_range_problem(
				object, 10, 10, &rows[i].answer, &error);
		cr_expect_eq(problem == NULL, rows[i].error == 0, "row %zu: %s",
				i, problem != NULL ? problem : "believed");
		if (problem != NULL) {
			cr_expect_eq(error, rows[i].error, "row %zu", i);
		}
		object_unref(object);
	}
}

static const struct s3_head_answer plain = {
		.content_length = "100",
		.etag = "\"e\"",
		.last_modified = MTIME_TEXT,
		.date = MTIME_TEXT,
};

Test(s3_reply, head_has_size_time_and_etag)
{
	struct s3_head head;
	cr_assert_null(s3_head_read(&plain, &head));
	cr_expect_eq(head.size, 100);
	cr_expect_eq(head.mtime, MTIME);
	cr_expect_str_eq(head.etag, "\"e\"");
	cr_expect_not(head.archived);
	cr_expect_not(head.unsettled);
}

Test(s3_reply, head_without_size_or_time_is_unusable)
{
	static const char *const sizes[] = {
			NULL, "", "-1", "1x", "1 2", "9223372036854775808"};
	struct s3_head head;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct s3_head_answer answer = plain;
		answer.content_length = sizes[i];
		cr_expect_not_null(s3_head_read(&answer, &head));
	}
	struct s3_head_answer answer = plain;
	answer.last_modified = NULL;
	cr_expect_not_null(s3_head_read(&answer, &head));
	answer.last_modified = "yesterday";
	cr_expect_not_null(s3_head_read(&answer, &head));
}

Test(s3_reply, archived_is_what_must_be_restored)
{
	static const struct {
		const char *class, *restore, *status;
		bool archived;
	} rows[] = {
			{"GLACIER", NULL, NULL, true},
			{"DEEP_ARCHIVE", NULL, NULL, true},
			{"GLACIER", "ongoing-request=\"true\"", NULL, true},
			{"GLACIER",
					"ongoing-request=\"false\", "
					"expiry-date=\"x\"",
					NULL, false},
			{"GLACIER_IR", NULL, NULL, false},
			{"INTELLIGENT_TIERING", NULL, "ARCHIVE_ACCESS", true},
			{NULL, NULL, NULL, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct s3_head_answer answer = plain;
		struct s3_head head;
		answer.storage_class = rows[i].class;
		answer.restore = rows[i].restore;
		answer.archive_status = rows[i].status;
		cr_assert_null(s3_head_read(&answer, &head));
		cr_expect_eq(head.archived, rows[i].archived, "row %zu", i);
	}
}

Test(s3_reply, young_version_without_a_strong_etag_is_unsettled)
{
	static const struct {
		const char *etag;
		int64_t age;
		bool unsettled;
	} rows[] = {
			{"\"e\"", 0, false},
			{"W/\"e\"", 0, true},
			{"W/\"e\"", 1, true},
			{"W/\"e\"", 2, false},
			{"", 1, true},
			{"", 2, false},
			{"", -100, true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(s3_is_unsettled(rows[i].etag, 1000,
					     1000 + rows[i].age),
				rows[i].unsettled, "row %zu", i);
	}
	/* Without a Date nothing shows the age. */
	cr_expect(s3_is_unsettled("", 1000, 0));
}

#define SIGNED_AT 1785000000
#define HOUR_AHEAD "Sat, 25 Jul 2026 18:20:00 GMT"
#define SAME_TIME "Sat, 25 Jul 2026 17:20:00 GMT"

Test(s3_reply, diagnosis_names_what_may_mend_a_refusal)
{
	static const struct {
		int status;
		const char *code, *region, *region_header, *date;
		bool anonymous;
		enum store_repair repair;
	} rows[] = {
			/* Another region, told in a header or the document. */
			{301, "", "", "eu-1", NULL, false, STORE_REPAIR_REGION},
			{301, "PermanentRedirect", "", "eu-1", NULL, true,
					STORE_REPAIR_REGION},
			{307, "TemporaryRedirect", "", "eu-1", NULL, false,
					STORE_REPAIR_REGION},
			{400, "AuthorizationHeaderMalformed", "eu-1", NULL,
					NULL, false, STORE_REPAIR_REGION},
			{400, "", "", "eu-1", NULL, false, STORE_REPAIR_REGION},
			{403, "", "", "eu-1", NULL, false, STORE_REPAIR_REGION},
			/* Not a region, or the one it was sent with. */
			{301, "", "", NULL, NULL, false, STORE_REPAIR_NONE},
			{301, "", "", "evil.com/", NULL, false,
					STORE_REPAIR_NONE},
			{301, "", "", "us-1", NULL, false, STORE_REPAIR_NONE},
			{403, "AccessDenied", "", "eu-1", NULL, true,
					STORE_REPAIR_NONE},
			{404, "NoSuchKey", "", "eu-1", NULL, false,
					STORE_REPAIR_NONE},
			{503, "SlowDown", "", "eu-1", NULL, false,
					STORE_REPAIR_NONE},
			/* The clock. */
			{403, "RequestTimeTooSkewed", "", NULL, HOUR_AHEAD,
					false, STORE_REPAIR_CLOCK},
			{403, "", "", NULL, HOUR_AHEAD, false,
					STORE_REPAIR_CLOCK},
			{403, "RequestTimeTooSkewed", "", NULL, SAME_TIME,
					false, STORE_REPAIR_CREDENTIALS},
			{403, "RequestTimeTooSkewed", "", NULL, NULL, false,
					STORE_REPAIR_CREDENTIALS},
			{403, "RequestTimeTooSkewed", "", NULL,
					"Thu, 01 Jan 1970 00:00:00 GMT", false,
					STORE_REPAIR_CREDENTIALS},
			{403, "AccessDenied", "", NULL, HOUR_AHEAD, false,
					STORE_REPAIR_CREDENTIALS},
			{503, "", "", NULL, HOUR_AHEAD, false,
					STORE_REPAIR_NONE},
			/* Credentials. */
			{400, "ExpiredToken", "", NULL, NULL, false,
					STORE_REPAIR_CREDENTIALS},
			{400, "", "", NULL, NULL, false,
					STORE_REPAIR_CREDENTIALS},
			{401, "", "", NULL, NULL, false,
					STORE_REPAIR_CREDENTIALS},
			{403, "InvalidAccessKeyId", "", NULL, NULL, false,
					STORE_REPAIR_CREDENTIALS},
			{403, "AccessDenied", "", NULL, NULL, true,
					STORE_REPAIR_NONE},
			{400, "InvalidArgument", "", NULL, NULL, false,
					STORE_REPAIR_NONE},
			{404, "NoSuchKey", "", NULL, NULL, false,
					STORE_REPAIR_NONE},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct s3_error error = {.message = ""};
		const struct s3_sent sent = {.region = "us-1",
				.time = SIGNED_AT,
				.is_signed = !rows[i].anonymous};
		const struct s3_refusal refusal = {
				.status = rows[i].status,
				.error = &error,
				.region_header = rows[i].region_header,
				.date = rows[i].date,
		};
		struct s3_remedy remedy;
		strcpy(error.code, rows[i].code);
		strcpy(error.region, rows[i].region);
		s3_diagnose(&sent, &refusal, &remedy);
		cr_expect_eq(remedy.repair, rows[i].repair, "row %zu: %d", i,
				remedy.repair);
		if (remedy.repair == STORE_REPAIR_REGION) {
			cr_expect_str_eq(remedy.region, "eu-1");
		}
		if (remedy.repair == STORE_REPAIR_CLOCK) {
			cr_expect_eq(remedy.server_time, SIGNED_AT + 3600);
		}
	}
}
