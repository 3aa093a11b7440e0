#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

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

TestSuite(cancel, .init = set_up, .fini = tear_down, .timeout = 30);

Test(cancel, a_callbacks_refusal_cancels_and_drops_the_connection)
{
	struct call *call = rig_call(&rig, "/ok/3000000");
	call->refuse_body_after = 100000;
	cr_assert_eq(call_run(call, rig.net), NET_CANCELED);
	cr_assert_lt(call->body_length, 300000);
	call_destroy(call);
	call = rig_call(&rig, "/ok/100");
	call->refuse_headers = true;
	cr_assert_eq(call_run(call, rig.net), NET_CANCELED);
	cr_assert_eq(call->body_length, 0);
	cr_assert_eq(call->result.response.status, 200);
	call_destroy(call);
	rig_await_open(&rig, 0);
}

Test(cancel, cancel_ends_a_request_in_every_state)
{
	struct call *queued = rig_call(&rig, "/silent");
	cr_assert_eq(call_start(queued, rig.net), 0);
	net_cancel(queued->request);
	call_wait(queued);
	cr_assert_eq(queued->result.failure, NET_CANCELED);
	cr_assert_str_eq(queued->detail, "Canceled");

	struct call *waiting = rig_call(&rig, "/silent");
	size_t before = server_counts(rig.server)->requests;
	cr_assert_eq(call_start(waiting, rig.net), 0);
	while (server_counts(rig.server)->requests == before) {
		usleep(1000);
	}
	net_cancel(waiting->request);
	call_wait(waiting);
	cr_assert_eq(waiting->result.failure, NET_CANCELED);

	struct call *receiving = rig_call(&rig, "/stall/200000");
	cr_assert_eq(call_start(receiving, rig.net), 0);
	call_wait_body(receiving, 100000);
	net_cancel(receiving->request);
	net_cancel(receiving->request);
	call_wait(receiving);
	cr_assert_eq(receiving->result.failure, NET_CANCELED);

	struct call *done = rig_call(&rig, "/ok/1");
	cr_assert_eq(call_run(done, rig.net), NET_OK);
	net_cancel(done->request);
	cr_assert_eq(rig_outcome(&rig, "/ok/1"), NET_OK);
	cr_assert_eq(done->done_count, 1);
	rig_await_open(&rig, 1);
	call_destroy(queued);
	call_destroy(waiting);
	call_destroy(receiving);
	call_destroy(done);
}

Test(cancel, cancel_after_destroy_is_harmless)
{
	struct call *call = rig_call(&rig, "/silent");
	cr_assert_eq(call_start(call, rig.net), 0);
	net_destroy(rig.net);
	rig.net = NULL;
	cr_assert_eq(call->done_count, 1);
	cr_assert_eq(call->result.failure, NET_CANCELED);
	net_cancel(call->request);
	call_destroy(call);
}

static struct call *retry;
static int retry_error;

static void submit_retry(struct call *call)
{
	retry_error = call_start(retry, rig.net);
}

Test(cancel, a_callback_may_submit_but_not_while_the_net_ends)
{
	struct call *call = rig_call(&rig, "/ok/1");
	retry = rig_call(&rig, "/ok/2");
	call->then = submit_retry;
	cr_assert_eq(call_run(call, rig.net), NET_OK);
	cr_assert_eq(retry_error, 0);
	call_wait(retry);
	cr_assert_eq(retry->result.failure, NET_OK);
	call_destroy(call);
	call_destroy(retry);

	call = rig_call(&rig, "/silent");
	retry = rig_call(&rig, "/ok/2");
	call->then = submit_retry;
	cr_assert_eq(call_start(call, rig.net), 0);
	struct net *ending = rig.net;
	net_destroy(ending);
	rig.net = NULL;
	cr_assert_eq(call->result.failure, NET_CANCELED);
	cr_assert_eq(retry_error, -ECANCELED);
	cr_assert_eq(retry->done_count, 0);
	call_destroy(call);
	call_destroy(retry);
}

Test(cancel, without_a_reference_a_request_ends_by_itself)
{
	struct call *call = rig_call(&rig, "/ok/1000");
	cr_assert_eq(net_submit(rig.net, &call->spec, NULL), 0);
	call_wait(call);
	cr_assert_eq(call->result.failure, NET_OK);
	call_destroy(call);
}
