#include <criterion/criterion.h>

#include "rig.h"

static struct rig rig;

static void set_up(void)
{
	rig_start(&rig);
}

static void tear_down(void)
{
	rig_finish(&rig);
}

TestSuite(answers, .init = set_up, .fini = tear_down, .timeout = 30);

Test(answers, a_body_comes_whole_however_it_is_sent)
{
	rig_assert_whole(&rig, "/ok/0", 0);
	rig_assert_whole(&rig, "/ok/1", 1);
	rig_assert_whole(&rig, "/ok/3000000", 3000000);
	rig_assert_whole(&rig, "/chunked/123456", 123456);
	rig_assert_whole(&rig, "/trickle/700", 700);
	rig_assert_whole(&rig, "/until-close/70000", 70000);
}

Test(answers, any_status_is_a_whole_answer)
{
	static const struct {
		const char *path;
		int status;
	} table[] = {
			{"/named/404_Gone|Content-Length:0", 404},
			{"/named/302_Found|Location:_/ok/5|Content-Length:0",
					302},
			{"/named/503_Slow|Retry-After:_7|Content-Length:0",
					503},
			{"/named/204_None", 204},
			{"/named/304_Same|ETag:_x", 304},
			{"/named/999_Odd|Content-Length:0", 999},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct call *call = rig_call(&rig, table[i].path);
		cr_assert_eq(call_run(call, rig.net), NET_OK, "%s",
				call->detail);
		cr_assert_eq(call->result.response.status, table[i].status);
		call_destroy(call);
	}
	cr_assert_eq(server_counts(rig.server)->requests,
			sizeof(table) / sizeof(table[0]));
}

Test(answers, a_compressed_body_is_not_unpacked)
{
	struct call *call = rig_call(&rig, "/encoded/1000");
	cr_assert_eq(call_run(call, rig.net), NET_OK, "%s", call->detail);
	cr_assert_eq(call->body_length, 1000);
	cr_assert_not(call->body_differs);
	call_destroy(call);
}

Test(answers, interim_answers_and_trailers_are_not_the_answer)
{
	struct call *call = rig_call(&rig, "/interim/3");
	cr_assert_eq(call_run(call, rig.net), NET_OK, "%s", call->detail);
	cr_assert_eq(call->headers_count, 1);
	cr_assert_eq(call->headers_status, 200);
	cr_assert_str_eq(call->etag, "final");
	call_destroy(call);
	call = rig_call(&rig, "/trailer");
	cr_assert_eq(call_run(call, rig.net), NET_OK, "%s", call->detail);
	cr_assert_str_eq(call->etag, "good");
	cr_assert_eq(call->body_length, 1);
	call_destroy(call);
}

Test(answers, headers_have_limits)
{
	rig_assert_whole(&rig, "/fields/199", 0);
	rig_assert_whole(&rig, "/field/60000", 0);
	cr_assert_eq(rig_outcome(&rig, "/fields/201"), NET_PROTOCOL);
	cr_assert_eq(rig_outcome(&rig, "/field/70000"), NET_PROTOCOL);
	cr_assert_eq(rig_outcome(&rig, "/field/300000"), NET_PROTOCOL);
	cr_assert_eq(rig_outcome(&rig, "/interim/1000"), NET_PROTOCOL);
	rig_assert_whole(&rig, "/ok/10", 10);
}

Test(answers, what_is_not_http_is_told_apart)
{
	struct call *call = rig_call(&rig, "/garbage");
	cr_assert_eq(call_run(call, rig.net), NET_PROTOCOL, "%s", call->detail);
	cr_assert_eq(call->result.response.status, 0);
	cr_assert_eq(call->headers_count, 0);
	cr_assert_eq(call->body_length, 0);
	call_destroy(call);
}

Test(answers, a_break_on_a_new_connection_is_broken)
{
	cr_assert_eq(rig_outcome(&rig, "/reset"), NET_BROKEN);
	cr_assert_eq(rig_outcome(&rig, "/nothing"), NET_BROKEN);
	cr_assert_eq(rig_outcome(&rig, "/short/100000"), NET_BROKEN);
	cr_assert_eq(rig_outcome(&rig, "/cut/100000"), NET_BROKEN);
}

Test(answers, a_short_body_is_told_with_the_bytes_that_came)
{
	struct call *call = rig_call(&rig, "/short/100000");
	cr_assert_eq(call_run(call, rig.net), NET_BROKEN);
	cr_assert_eq(call->result.response.status, 200);
	cr_assert_eq(call->result.body_bytes, 50000);
	cr_assert_not(call->body_differs);
	cr_assert_str_neq(call->detail, "");
	call_destroy(call);
}
