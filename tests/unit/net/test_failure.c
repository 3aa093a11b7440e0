#include <criterion/criterion.h>

#include "net/failure_private.h"

struct row {
	enum net_failure expected;
	struct transfer_end end;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct transfer_end end = rows[i].end;
		if (end.detail == NULL) {
			end.detail = "";
		}
		enum net_failure failure = failure_classify(&end);
		cr_assert_eq(failure, rows[i].expected,
				"row %zu (code %d): %d, not %d", i,
				(int)end.code, (int)failure,
				(int)rows[i].expected);
	}
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

Test(failure, success_needs_a_final_status)
{
	const struct row rows[] = {
			{NET_OK, {.code = CURLE_OK,
						 .sent = true,
						 .headers_complete = true}},
			{NET_PROTOCOL, {.code = CURLE_OK, .sent = true}},
	};
	CHECK(rows);
}

Test(failure, what_was_never_sent_is_unreachable)
{
	static const CURLcode codes[] = {CURLE_COULDNT_RESOLVE_HOST,
			CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
			CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
			CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING,
			CURLE_PROXY, CURLE_INTERFACE_FAILED};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const struct row row = {NET_UNREACHABLE, {.code = codes[i]}};
		check(&row, 1);
	}
}

Test(failure, a_break_is_dead_idle_only_when_reused_and_unanswered)
{
	static const CURLcode codes[] = {
			CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const struct row rows[] = {
				{NET_DEAD_IDLE, {.code = codes[i],
								.sent = true,
								.reused = true}},
				{NET_BROKEN, {.code = codes[i], .sent = true}},
				{NET_BROKEN, {.code = codes[i],
							     .sent = true,
							     .reused = true,
							     .answered = true}},
				{NET_BROKEN, {.code = codes[i],
							     .sent = true,
							     .answered = true}},
		};
		CHECK(rows);
	}
}

Test(failure, a_short_body_is_broken)
{
	const struct row rows[] = {
			{NET_BROKEN, {.code = CURLE_PARTIAL_FILE,
						     .sent = true,
						     .answered = true,
						     .headers_complete = true}},
	};
	CHECK(rows);
}

Test(failure, timeouts_count_from_the_sent_request)
{
	const struct row rows[] = {
			{NET_TIMEOUT, {.code = CURLE_OPERATION_TIMEDOUT,
						      .sent = true}},
			{NET_TIMEOUT, {.timed_out = true, .sent = true}},
			{NET_UNREACHABLE, {.timed_out = true}},
	};
	CHECK(rows);
}

Test(failure, certificates_are_never_worth_a_retry)
{
	const struct row rows[] = {
			{NET_TLS, {.code = CURLE_PEER_FAILED_VERIFICATION}},
			{NET_TLS, {.code = CURLE_SSL_CACERT_BADFILE}},
			{NET_TLS, {.code = CURLE_SSL_CERTPROBLEM}},
			{NET_TLS, {.code = CURLE_SSL_CIPHER}},
	};
	CHECK(rows);
}

Test(failure, a_cut_handshake_is_not_a_refused_one)
{
	const struct row rows[] = {
			{NET_TLS, {.code = CURLE_SSL_CONNECT_ERROR,
						  .detail = "error:0A00010B:"
							    "SSL "
							    "routines::wrong "
							    "version number"}},
			{NET_UNREACHABLE,
					{.code = CURLE_SSL_CONNECT_ERROR,
							.detail = "error:"
								  "0A000126:"
								  "SSL "
								  "routines::"
								  "unexpected "
								  "eof while "
								  "reading"}},
			{NET_UNREACHABLE,
					{.code = CURLE_SSL_CONNECT_ERROR,
							.detail = "OpenSSL "
								  "SSL_"
								  "connect: "
								  "Connection "
								  "reset by "
								  "peer"}},
	};
	CHECK(rows);
}

Test(failure, of_our_own_making_goes_before_libcurls_code)
{
	const struct row rows[] = {
			{NET_CANCELED, {.code = CURLE_WRITE_ERROR,
						       .canceled = true,
						       .sent = true}},
			{NET_CANCELED, {.canceled = true, .timed_out = true}},
			{NET_PROTOCOL, {.code = CURLE_WRITE_ERROR,
						       .not_http = true,
						       .sent = true}},
			{NET_INTERNAL, {.code = CURLE_COULDNT_CONNECT,
						       .no_descriptor = true}},
			/* Another address of the name worked. */
			{NET_OK, {.code = CURLE_OK,
						 .no_descriptor = true,
						 .sent = true,
						 .headers_complete = true}},
	};
	CHECK(rows);
}

Test(failure, answers_that_are_not_http)
{
	const struct row rows[] = {
			{NET_PROTOCOL, {.code = CURLE_UNSUPPORTED_PROTOCOL,
						       .sent = true}},
			{NET_PROTOCOL, {.code = CURLE_WEIRD_SERVER_REPLY,
						       .sent = true}},
			{NET_PROTOCOL, {.code = CURLE_OUT_OF_MEMORY,
						       .sent = true}},
			{NET_INTERNAL, {.code = CURLE_OUT_OF_MEMORY}},
			{NET_INTERNAL, {.code = CURLE_OUT_OF_MEMORY,
						       .sent = true,
						       .headers_complete =
								       true}},
			{NET_INTERNAL, {.code = CURLE_FAILED_INIT}},
	};
	CHECK(rows);
}
