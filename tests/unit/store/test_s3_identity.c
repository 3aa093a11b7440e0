#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s3_script.h"
#include "store/object.h"

TestSuite(s3_identity, .init = script_start, .fini = script_finish);

Test(s3_identity, wrong_region_is_mended_once_and_remembered)
{
	static const struct answer other = {.status = 400,
			.headers = {"x-amz-bucket-region: eu-9"}};
	open_store();
	get_range(10, 5);
	play(&other);
	cr_expect_eq(seen.advice, STORE_REPAIRED);
	cr_expect_eq(seen.repair, STORE_REPAIR_REGION);
	get_range(10, 5);
	cr_expect_not_null(strstr(sent_header("Authorization"), "/eu-9/s3/"));
	play(&other);
	cr_expect_eq(seen.advice, STORE_FINAL);
}

Test(s3_identity, regions_that_come_and_go_end)
{
	unsigned repairs = 0;
	open_store();
	for (unsigned i = 0; i < 20; i++) {
		const struct answer answer = {.status = 301,
				.headers = {i % 2 == 0 ? "x-amz-bucket-region:"
							 " a"
						       : "x-amz-bucket-region:"
							 " b"}};
		get_range(10, 5);
		play(&answer);
		repairs += seen.advice == STORE_REPAIRED;
	}
	cr_expect_leq(repairs, 4);
}

Test(s3_identity, region_moves_the_host_at_amazon)
{
	settings.endpoint_url = NULL;
	open_store();
	get_range(10, 5);
	cr_expect_str_eq(sent.url, "https://data.s3.us-1.amazonaws.com/"
				   "p/a%20b%2Bc");
	play(&(struct answer){.status = 301,
			.headers = {"x-amz-bucket-region: eu-9",
					"Location: https://evil/"}});
	cr_expect_eq(seen.advice, STORE_REPAIRED);
	get_range(10, 5);
	cr_expect_str_eq(sent.url, "https://data.s3.eu-9.amazonaws.com/"
				   "p/a%20b%2Bc");
	cr_expect_str_eq(sent_header("Host"), "data.s3.eu-9.amazonaws.com");
	play(&good_range);
	cr_expect_str_eq(store_name(store), "https://s3.amazonaws.com/data");
}

Test(s3_identity, redirect_elsewhere_is_refused)
{
	open_store();
	get_range(10, 5);
	play(&(struct answer){
			.status = 307, .headers = {"Location: http://evil/"}});
	cr_expect_eq(seen.error, -EIO);
	cr_expect_eq(seen.advice, STORE_FINAL);
	cr_expect_eq(submits, 1);
}

Test(s3_identity, wrong_clock_is_mended_from_the_answers_date)
{
	static const struct answer skewed = {.status = 403,
			.headers = {"Date: Sat, 25 Jul 2099 18:20:00 GMT"},
			.body = "<Error><Code>RequestTimeTooSkewed</Code>"
				"</Error>"};
	open_store();
	get_range(10, 5);
	play(&skewed);
	cr_expect_eq(seen.advice, STORE_REPAIRED);
	cr_expect_eq(seen.repair, STORE_REPAIR_CLOCK);
	get_range(10, 5);
	cr_expect_eq(strncmp(sent_header("x-amz-date"), "20990725T182",
				     strlen("20990725T182")),
			0);
	play(&skewed);
	cr_expect_eq(seen.advice, STORE_FINAL);
	cr_expect_eq(seen.error, -EACCES);
}

Test(s3_identity, refused_keys_are_mended_when_the_file_has_others)
{
	static const struct answer refused = {.status = 403,
			.body = "<Error><Code>InvalidAccessKeyId</Code>"
				"</Error>"};
	open_store();
	get_range(10, 5);
	cr_expect_not_null(strstr(
			sent_header("Authorization"), "Credential=first/"));
	play(&refused);
	cr_expect_eq(seen.advice, STORE_FINAL);
	cr_expect_eq(seen.error, -EACCES);
	get_range(10, 5);
	write_keys("second");
	play(&refused);
	cr_expect_eq(seen.advice, STORE_REPAIRED);
	cr_expect_eq(seen.repair, STORE_REPAIR_CREDENTIALS);
	get_range(10, 5);
	cr_expect_not_null(strstr(
			sent_header("Authorization"), "Credential=second/"));
	play(&refused);
	cr_expect_eq(seen.advice, STORE_FINAL);
}

Test(s3_identity, session_token_is_sent_and_signed)
{
	setenv("AWS_ACCESS_KEY_ID", "env", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	setenv("AWS_SESSION_TOKEN", "tok/+=", 1);
	settings.requester_pays = true;
	open_store();
	get_range(10, 5);
	cr_expect_str_eq(sent_header("x-amz-security-token"), "tok/+=");
	cr_expect_str_eq(sent_header("x-amz-request-payer"), "requester");
	cr_expect_not_null(strstr(sent_header("Authorization"),
			"SignedHeaders=host;x-amz-content-sha256;x-amz-date;"
			"x-amz-request-payer;x-amz-security-token,"));
	play(&good_range);
}

Test(s3_identity, anonymous_requests_have_nothing_of_a_signature)
{
	settings.anonymous = true;
	open_store();
	get_range(10, 5);
	for (size_t i = 0; i < sent.header_count; i++) {
		cr_expect_null(strstr(sent.headers[i], "mz-"), "%s",
				sent.headers[i]);
		cr_expect_null(strstr(sent.headers[i], "Authorization"));
	}
	play(&(struct answer){.status = 403});
	cr_expect_eq(seen.error, -EACCES);
	cr_expect_eq(seen.advice, STORE_FINAL);
}

Test(s3_identity, customer_key_goes_with_objects_and_not_with_listings)
{
	const struct store_list_args args = {.prefix = ""};
	write_file(credentials,
			"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n");
	settings.anonymous = true;
	settings.endpoint_url = "https://h";
	settings.sse_c_key_file = credentials;
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
	open_store();
	get_range(10, 5);
	cr_expect_str_eq(sent_header("x-amz-server-side-encryption-customer-"
				     "algorithm"),
			"AES256");
	cr_expect_str_eq(sent_header("x-amz-server-side-encryption-customer-"
				     "key"),
			"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
	cr_expect_str_eq(sent_header("x-amz-server-side-encryption-customer-"
				     "key-md5"),
			"KYvwGXoFFJ42a2u2GDWhwQ==");
	play(&good_range);
	cr_assert_eq(store_list(store, &args, &list_callbacks, NULL, NULL), 0);
	cr_expect_null(sent_header("x-amz-server-side-encryption-customer-"
				   "key"));
	play(&(struct answer){.status = 404});
}

Test(s3_identity, customer_key_needs_https_and_32_bytes)
{
	static const struct {
		const char *endpoint, *content;
		int error;
	} rows[] = {
			{"https://h", "01234567890123456789012345678901", 0},
			{"http://127.0.0.1:1",
					"01234567890123456789012345678901", 0},
			{"http://h", "01234567890123456789012345678901",
					-EINVAL},
			{"https://h", "0123456789", -EINVAL},
			{"https://h", "MDEyMw==", -EINVAL},
			{"https://h", "", -EINVAL},
	};
	settings.anonymous = true;
	settings.sse_c_key_file = credentials;
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char message[1200] = "";
		write_file(credentials, rows[i].content);
		settings.endpoint_url = rows[i].endpoint;
		cr_expect_eq(store_open("s3://data", &settings, &store, message,
					     sizeof(message)),
				rows[i].error, "row %zu: %s", i, message);
		if (rows[i].error == 0) {
			store_destroy(store);
		} else {
			cr_expect_not_null(strstr(message, "sse_c_key_file"));
		}
		store = NULL;
	}
}

Test(s3_identity, details_have_no_secret)
{
	static const struct answer answer = {.status = 403,
			.body = "<Error><Code>SignatureDoesNotMatch</Code>"
				"<Message>no match</Message><StringToSign>"
				"marker</StringToSign></Error>"};
	open_store();
	get_range(10, 5);
	play(&answer);
	cr_expect_str_eq(seen.detail, "403 SignatureDoesNotMatch: no match");
}
