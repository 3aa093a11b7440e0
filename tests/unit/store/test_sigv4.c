#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/store/sigv4_private.h"
#include "base/strbuf.h"

/* The published test suite of Signature Version 4. */
#define SUITE_TIME INT64_C(1440938160) /* 20150830T123600Z */
static const struct sigv4_scope suite_scope = {
		.access_key_id = "AKIDEXAMPLE",
		.secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
		.region = "us-east-1",
		.service = "service",
		.time = SUITE_TIME,
};

/* The examples of the S3 manual. */
static const struct sigv4_scope s3_scope = {
		.access_key_id = "AKIAIOSFODNN7EXAMPLE",
		.secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		.region = "us-east-1",
		.service = "s3",
		.time = INT64_C(1369353600), /* 20130524T000000Z */
};

#define S3_HOST "examplebucket.s3.amazonaws.com"

static const struct vector {
	const char *name;
	const struct sigv4_scope *scope;
	const char *method, *path, *query;
	struct sigv4_header headers[6];
	size_t header_count;
	const char *signed_headers, *signature;
} vectors[] = {
		{"get-vanilla", &suite_scope, "GET", "/", "",
				{{"host", "example.amazonaws.com"},
						{"x-amz-date", "20150830T1236"
							       "00Z"}},
				2, "host;x-amz-date",
				"5fa00fa31553b73ebf1942676e86291e"
				"8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla-query-order-key-case", &suite_scope, "GET", "/",
				"Param1=value1&Param2=value2",
				{{"x-amz-date", "20150830T123600Z"},
						{"host", "example.amazonaws."
							 "com"}},
				2, "host;x-amz-date",
				"b97d918cfa904a5beff61c982a1b6f45"
				"8b799221646efd99d3219ec94cdf2500"},
		{"get-utf8", &suite_scope, "GET", "/%E1%88%B4", "",
				{{"host", "example.amazonaws.com"},
						{"x-amz-date", "20150830T1236"
							       "00Z"}},
				2, "host;x-amz-date",
				"8318018e0b0f223aa2bbf98705b62bb7"
				"87dc9c0e678f255a891fd03141be5d85"},
		{"get-header-value-trim", &suite_scope, "GET", "/", "",
				{{"host", "example.amazonaws.com"},
						{"my-header1", " value1"},
						{"my-header2", " \"a   b   "
							       "c\""},
						{"x-amz-date", "20150830T1236"
							       "00Z"}},
				4, "host;my-header1;my-header2;x-amz-date",
				"acc3ed3afb60bb290fc8d2dd0098b991"
				"1fcaa05412b367055dee359757a9c736"},
		{"S3: GET object", &s3_scope, "GET", "/test.txt", "",
				{{"host", S3_HOST}, {"range", "bytes=0-9"},
						{"x-amz-content-sha256",
								SIGV4_EMPTY_SHA256},
						{"x-amz-date", "20130524T0000"
							       "00Z"}},
				4, "host;range;x-amz-content-sha256;x-amz-date",
				"f0e8bdb87c964420e857bd35b5d6ed31"
				"0bd44f0170aba48dd91039c6036bdb41"},
		{"S3: list objects", &s3_scope, "GET", "/",
				"max-keys=2&prefix=J",
				{{"host", S3_HOST},
						{"x-amz-content-sha256",
								SIGV4_EMPTY_SHA256},
						{"x-amz-date", "20130524T0000"
							       "00Z"}},
				3, "host;x-amz-content-sha256;x-amz-date",
				"34b48302e7b5fa45bde8084f4b7868a8"
				"6f0a534bc59db6670ed5711ef69dc6f7"},
		{"S3: bucket lifecycle", &s3_scope, "GET", "/", "lifecycle=",
				{{"host", S3_HOST},
						{"x-amz-content-sha256",
								SIGV4_EMPTY_SHA256},
						{"x-amz-date", "20130524T0000"
							       "00Z"}},
				3, "host;x-amz-content-sha256;x-amz-date",
				"fea454ca298b7da1c68078a5d1bdbfbb"
				"e0d65c699e0f91ac7a200a0136783543"},
};

static struct sigv4_request request_of(const struct vector *vector)
{
	return (struct sigv4_request){
			.method = vector->method,
			.path = vector->path,
			.query = vector->query,
			.headers = vector->headers,
			.header_count = vector->header_count,
			.payload_sha256 = SIGV4_EMPTY_SHA256,
	};
}

Test(sigv4, signs_as_the_published_vectors)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *vector = &vectors[i];
		const struct sigv4_request request = request_of(vector);
		struct strbuf out;
		char end[256];
		strbuf_init(&out, 4096);
		cr_assert_eq(sigv4_authorization(&request, vector->scope, &out),
				0);
		snprintf(end, sizeof(end), ", SignedHeaders=%s, Signature=%s",
				vector->signed_headers, vector->signature);
		const size_t length = strlen(end);
		cr_expect(out.length > length &&
						strcmp(out.text + out.length - length,
								end) == 0,
				"%s: %s", vector->name, out.text);
		strbuf_finish(&out);
	}
}

Test(sigv4, canonical_request_is_the_manuals)
{
	const struct sigv4_request request = request_of(&vectors[4]);
	struct strbuf out;
	strbuf_init(&out, 4096);
	cr_assert_eq(sigv4_canonical_request(&request, &out), 0);
	cr_expect_str_eq(out.text, "GET\n/test.txt\n\nhost:" S3_HOST
				   "\nrange:bytes=0-9\nx-amz-content-"
				   "sha256:" SIGV4_EMPTY_SHA256
				   "\nx-amz-date:20130524T000000Z\n\n"
				   "host;range;x-amz-content-sha256;x-amz-"
				   "date\n" SIGV4_EMPTY_SHA256);
	strbuf_clear(&out);
	cr_assert_eq(sigv4_string_to_sign(&request, &s3_scope, &out), 0);
	cr_expect_str_eq(out.text, "AWS4-HMAC-SHA256\n20130524T000000Z\n"
				   "20130524/us-east-1/s3/aws4_request\n"
				   "7344ae5b7ee6c3e7e6b0fe0640412a37"
				   "625d1fbfff95c48bbb2dc43964946972");
	strbuf_finish(&out);
}

Test(sigv4, authorization_names_key_and_scope)
{
	const struct sigv4_request request = request_of(&vectors[4]);
	struct strbuf out;
	strbuf_init(&out, 4096);
	cr_assert_eq(sigv4_authorization(&request, &s3_scope, &out), 0);
	const char *start = "AWS4-HMAC-SHA256 Credential="
			    "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
			    "aws4_request, SignedHeaders=host;";
	cr_expect_eq(strncmp(out.text, start, strlen(start)), 0);
	strbuf_finish(&out);
}

Test(sigv4, another_secret_region_or_day_signs_otherwise)
{
	const struct sigv4_request request = request_of(&vectors[4]);
	struct sigv4_scope scopes[4] = {s3_scope, s3_scope, s3_scope, s3_scope};
	char *texts[4];
	scopes[1].secret_access_key = "x";
	scopes[2].region = "eu-west-1";
	scopes[3].time += 86400;
	for (size_t i = 0; i < 4; i++) {
		struct strbuf out;
		strbuf_init(&out, 4096);
		cr_assert_eq(sigv4_authorization(&request, &scopes[i], &out),
				0);
		texts[i] = strbuf_take(&out);
	}
	for (size_t i = 1; i < 4; i++) {
		cr_expect_str_neq(strstr(texts[i], "Signature="),
				strstr(texts[0], "Signature="));
	}
	for (size_t i = 0; i < 4; i++) {
		free(texts[i]);
	}
}

Test(sigv4, query_is_sorted_by_encoded_name_and_has_every_equals_sign)
{
	const struct sigv4_parameter parameters[] = {
			{"prefix", "a b/+&=~é"},
			{"list-type", "2"},
			{"delimiter", "/"},
			{"continuation-token", ""},
			{"max-keys", "7"},
			{"max", "1"},
	};
	struct strbuf out;
	strbuf_init(&out, 4096);
	cr_assert_eq(sigv4_query(parameters, 6, &out), 0);
	cr_expect_str_eq(out.text,
			"continuation-token=&delimiter=%2F&list-type=2&max=1&"
			"max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%A9");
	strbuf_finish(&out);
}

Test(sigv4, too_many_headers_or_parameters_are_refused)
{
	struct sigv4_header headers[SIGV4_MAX_HEADERS + 1];
	struct sigv4_parameter parameters[SIGV4_MAX_PARAMETERS + 1];
	for (size_t i = 0; i < SIGV4_MAX_HEADERS + 1; i++) {
		headers[i] = (struct sigv4_header){"a", "b"};
	}
	for (size_t i = 0; i < SIGV4_MAX_PARAMETERS + 1; i++) {
		parameters[i] = (struct sigv4_parameter){"a", "b"};
	}
	const struct sigv4_request request = {.method = "GET",
			.path = "/",
			.query = "",
			.headers = headers,
			.header_count = SIGV4_MAX_HEADERS + 1,
			.payload_sha256 = SIGV4_EMPTY_SHA256};
	struct strbuf out;
	strbuf_init(&out, 4096);
	cr_expect_eq(sigv4_authorization(&request, &s3_scope, &out), -EINVAL);
	cr_expect_eq(sigv4_query(parameters, SIGV4_MAX_PARAMETERS + 1, &out),
			-EINVAL);
	strbuf_finish(&out);
}

Test(sigv4, time_is_utc_in_the_basic_format)
{
	char text[SIGV4_TIME_SIZE];
	sigv4_format_time(SUITE_TIME, text);
	cr_expect_str_eq(text, "20150830T123600Z");
	sigv4_format_time(INT64_MAX, text);
	cr_expect_str_eq(text, "");
}
