#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "s3_script.h"
#include "store/object.h"

TestSuite(s3_calls, .init = script_start, .fini = script_finish);

Test(s3_calls, range_is_asked_for_by_version_and_signed)
{
	open_store();
	get_range(10, 5);
	cr_expect_eq(sent.method, NET_GET);
	cr_expect_str_eq(sent.url, "http://h:9000/data/p/a%20b%2Bc");
	cr_expect_str_eq(sent_header("Host"), "h:9000");
	cr_expect_str_eq(sent_header("Range"), "bytes=10-14");
	cr_expect_str_eq(sent_header("If-Match"), "\"e\"");
	cr_expect_str_eq(sent_header("Accept-Encoding"), "identity");
	cr_expect_not_null(strstr(sent_header("Authorization"),
			"/us-1/s3/aws4_request, SignedHeaders=host;"
			"x-amz-content-sha256;x-amz-date, "));
	cr_expect_null(sent_header("x-amz-security-token"));
	cr_expect_null(sent_header("x-amz-request-payer"));
	play(&good_range);
	cr_expect_eq(seen.done, 1);
	cr_expect_eq(seen.error, 0);
	cr_expect_eq(seen.data_offset, 10);
	cr_expect_str_eq(seen.data, "01234");
	cr_expect_eq(counters.requests_get, 1);
	cr_expect_eq(counters.bytes_store, 5);
}

Test(s3_calls, weak_etag_is_not_sent)
{
	open_store();
	object_unref(object);
	object = object_create(store, "k", "W/\"e\"", 100, 1000);
	get_range(0, 1);
	cr_expect_null(sent_header("If-Match"));
	play(&(struct answer){.status = 404});
}

/* Whether headers have the quotes that a listing left out is tried, and then
 * known. */
Test(s3_calls, etag_without_quotes_is_tried_both_ways)
{
	struct answer bare = good_range;
	bare.headers[0] = "ETag: e";
	open_store();
	object_unref(object);
	object = object_create(store, "k", "e", 100, 1000);
	get_range(10, 5);
	cr_expect_str_eq(sent_header("If-Match"), "\"e\"");
	play(&(struct answer){.status = 412});
	cr_expect_eq(seen.error, -ESTALE);
	cr_expect_eq(seen.advice, STORE_REPAIRED);
	cr_expect_eq(seen.repair, STORE_REPAIR_ETAG);
	get_range(10, 5);
	cr_expect_str_eq(sent_header("If-Match"), "e");
	play(&bare);
	cr_expect_eq(seen.error, 0);
	seen.data_length = 0;
	get_range(10, 5);
	cr_expect_str_eq(sent_header("If-Match"), "e");
	play(&good_range);
	cr_expect_eq(seen.error, 0);
	seen.data_length = 0;
	get_range(10, 5);
	cr_expect_str_eq(sent_header("If-Match"), "\"e\"");
	play(&good_range);
}

Test(s3_calls, unusable_answers_deliver_nothing)
{
	static const struct answer answers[] = {
			{.status = 200,
					.headers = {"ETag: \"e\""},
					.body = "01234"},
			{.status = 206,
					.headers = {"ETag: \"e\""},
					.body = "01234"},
			{.status = 206,
					.headers = {"ETag: \"e\"",
							"Content-Range: bytes "
							"11-15/100"},
					.body = "01234"},
			{.status = 503,
					.body = "<Error><Code>SlowDown</Code>"
						"</Error>"},
			{.status = 204, .body = "01234"},
	};
	open_store();
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		get_range(10, 5);
		play(&answers[i]);
		cr_expect_eq(seen.error, -EIO, "answer %zu", i);
		cr_expect_neq(seen.advice, STORE_FINAL, "answer %zu", i);
		cr_expect_eq(seen.data_length, 0, "answer %zu", i);
	}
	cr_expect_eq(seen.done, 5);
	cr_expect_eq(counters.bytes_store, 0);
}

Test(s3_calls, changed_or_gone_is_stale)
{
	static const struct answer answers[] = {
			{.status = 404,
					.body = "<Error><Code>NoSuchKey</Code>"
						"</Error>"},
			{.status = 412},
			{.status = 416},
			{.status = 206,
					.headers = {"ETag: \"f\"",
							"Content-Range: bytes "
							"10-14/100"},
					.body = "01234"},
	};
	open_store();
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		get_range(10, 5);
		play(&answers[i]);
		cr_expect_eq(seen.error, -ESTALE, "answer %zu", i);
		cr_expect_eq(seen.advice, STORE_FINAL);
		cr_expect_eq(seen.data_length, 0);
	}
}

Test(s3_calls, short_body_is_an_error_after_what_came)
{
	struct answer answer = good_range;
	answer.body = "0123";
	open_store();
	get_range(10, 5);
	play(&answer);
	cr_expect_eq(seen.error, -EIO);
	cr_expect_eq(seen.advice, STORE_RETRY);
	cr_expect_str_eq(seen.data, "0123");
}

Test(s3_calls, bytes_beyond_the_range_are_dropped)
{
	struct answer answer = good_range;
	answer.body = "0123456789";
	open_store();
	get_range(10, 5);
	play(&answer);
	cr_expect_eq(seen.error, 0);
	cr_expect_str_eq(seen.data, "01234");
	answer.body = "0123456789abcdef";
	seen.data_length = 0;
	memset(seen.data, 0, sizeof(seen.data));
	get_range(10, 5);
	play(&answer);
	cr_expect_eq(seen.error, 0);
	cr_expect_str_eq(seen.data, "01234");
}

Test(s3_calls, broken_transfer_is_not_taken_for_its_status)
{
	struct answer answer = good_range;
	answer.failure = NET_BROKEN;
	open_store();
	get_range(10, 5);
	play(&answer);
	cr_expect_eq(seen.error, -EIO);
	cr_expect_str_eq(seen.detail, "words of the network");
}

Test(s3_calls, refused_data_and_cancel_end_with_ecanceled)
{
	struct store_call *call = NULL;
	open_store();
	seen.refuse_data = true;
	get_range(10, 5);
	play(&good_range);
	cr_expect_eq(seen.error, -ECANCELED);
	seen.refuse_data = false;
	cr_assert_eq(store_get(store, object, 10, 5, &get_callbacks, NULL,
				     &call),
			0);
	cr_assert_not_null(call);
	store_cancel(call);
	cr_expect(sent.is_canceled);
	play(&(struct answer){.failure = NET_CANCELED});
	cr_expect_eq(seen.error, -ECANCELED);
	store_cancel(call);
	store_call_unref(call);
}

Test(s3_calls, request_that_was_not_queued_leaves_nothing_behind)
{
	struct store_call *call = NULL;
	const struct store_list_args args = {.prefix = ""};
	open_store();
	submit_error = -ENOMEM;
	cr_expect_eq(store_get(store, object, 0, 1, &get_callbacks, NULL,
				     &call),
			-ENOMEM);
	cr_expect_null(call);
	cr_expect_eq(store_stat(store, "k", &stat_callbacks, NULL, NULL),
			-ENOMEM);
	cr_expect_eq(store_list(store, &args, &list_callbacks, NULL, NULL),
			-ENOMEM);
	cr_expect_eq(seen.done, 0);
	cr_expect_eq(counters.requests_get, 0);
	cr_expect_eq(counters.requests_head, 0);
	cr_expect_eq(counters.requests_list, 0);
}

Test(s3_calls, stat_is_a_head)
{
	static const struct answer answer = {.status = 200,
			.headers = {"Content-Length: 7", "ETag: W/\"x\"",
					"Last-Modified: Sun, 06 Nov 1994 "
					"08:49:37 GMT",
					"Date: Sun, 06 Nov 1994 08:49:38 GMT",
					"x-amz-storage-class: GLACIER"}};
	open_store();
	cr_assert_eq(store_stat(store, "k", &stat_callbacks, NULL, NULL), 0);
	cr_expect_eq(sent.method, NET_HEAD);
	cr_expect_str_eq(sent.url, "http://h:9000/data/k");
	cr_expect_null(sent_header("Range"));
	play(&answer);
	cr_assert_not_null(seen.object);
	cr_expect_eq(seen.object->size, 7);
	cr_expect_eq(seen.object->mtime, 784111777);
	cr_expect_str_eq(seen.object->key, "k");
	cr_expect_not(seen.object->etag_strong);
	cr_expect_not(seen.object->cacheable);
	cr_expect(seen.object->archived);
	cr_expect_eq(counters.requests_head, 1);
}

Test(s3_calls, absent_and_refused_are_told_apart)
{
	static const struct {
		int status, error;
	} rows[] = {{404, -ENOENT}, {403, -EACCES}, {401, -EACCES}, {500, -EIO},
			{400, -EIO}, {301, -EIO}};
	open_store();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct answer answer = {.status = rows[i].status};
		cr_assert_eq(store_stat(store, "k", &stat_callbacks, NULL,
					     NULL),
				0);
		play(&answer);
		cr_expect_eq(seen.error, rows[i].error, "%d", rows[i].status);
	}
}

#define LIST_HEAD "<ListBucketResult><EncodingType>url</EncodingType>"
#define KEY(key)                                                               \
	"<Contents><Key>" key "</Key><Size>1</Size><LastModified>"             \
	"2026-01-31T12:34:56Z</LastModified></Contents>"

Test(s3_calls, list_asks_for_one_page_and_goes_on_with_its_token)
{
	const struct store_list_args args = {.prefix = "p/ä&"};
	const struct store_list_args next = {.prefix = "",
			.token = "a+b/c==",
			.recursive = true,
			.max_keys = 7};
	open_store();
	cr_assert_eq(store_list(store, &args, &list_callbacks, NULL, NULL), 0);
	cr_expect_str_eq(sent.url,
			"http://h:9000/data/?delimiter=%2F&encoding-type=url&"
			"list-type=2&prefix=p%2F%C3%A4%26");
	play(&(struct answer){.status = 200,
			.body = LIST_HEAD KEY(
					"p/%C3%A4%26x") "<NextContinuationToken"
							">a+b/c=="
							"</"
							"NextContinuationToken>"
							"<IsTruncated>true"
							"</IsTruncated></"
							"ListBucketResult>"});
	cr_expect_eq(seen.error, 0, "%s", seen.detail);
	cr_expect_str_eq(seen.keys, "p/ä&x ");
	cr_expect_str_eq(seen.token, "a+b/c==");
	cr_assert_eq(store_list(store, &next, &list_callbacks, NULL, NULL), 0);
	cr_expect_str_eq(sent.url,
			"http://h:9000/data/?continuation-token="
			"a%2Bb%2Fc%3D%3D&encoding-type=url&list-type=2&"
			"max-keys=7&prefix=");
	play(&(struct answer){.status = 200,
			.body = LIST_HEAD "<IsTruncated>false</IsTruncated>"
					  "</ListBucketResult>"});
	cr_expect_eq(seen.error, 0);
	cr_expect_eq(counters.requests_list, 2);
}

Test(s3_calls, listing_that_is_not_whole_gives_no_page)
{
	static const struct {
		struct answer answer;
		int error;
		enum store_advice advice;
	} rows[] = {
			{{.status = 200, .body = LIST_HEAD KEY("a")}, -EIO,
					STORE_RETRY},
			{{.status = 200, .body = "<html/>"}, -EIO, STORE_RETRY},
			{{.status = 200,
					 .body = "<Error><Code>SlowDown</Code>"
						 "</Error>"},
					-EIO, STORE_THROTTLED},
			{{.status = 200,
					 .body = "<Error><Code>AccessDenied"
						 "</Code></Error>"},
					-EACCES, STORE_FINAL},
			{{.status = 404,
					 .body = "<Error><Code>NoSuchBucket"
						 "</Code></Error>"},
					-EIO, STORE_FINAL},
			{{.status = 404}, -EIO, STORE_FINAL},
	};
	const struct store_list_args args = {.prefix = ""};
	open_store();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(store_list(store, &args, &list_callbacks, NULL,
					     NULL),
				0);
		play(&rows[i].answer);
		cr_expect_eq(seen.error, rows[i].error, "row %zu: %s", i,
				seen.detail);
		cr_expect_eq(seen.advice, rows[i].advice, "row %zu: %s", i,
				seen.detail);
	}
	cr_expect_str_eq(seen.keys, "");
}

Test(s3_calls, destroy_ends_what_is_under_way)
{
	struct store_call *call = NULL;
	open_store();
	cr_assert_eq(store_get(store, object, 10, 5, &get_callbacks, NULL,
				     &call),
			0);
	cancel_ends_at_once = true;
	store_destroy(store);
	store = NULL;
	cr_expect_eq(seen.done, 1);
	cr_expect_eq(seen.error, -ECANCELED);
	store_call_unref(call);
}
