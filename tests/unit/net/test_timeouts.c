#include <criterion/criterion.h>
#include <unistd.h>

#include "base/clock.h"
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

TestSuite(timeouts, .init = set_up, .fini = tear_down, .timeout = 30);

Test(timeouts, silence_ends_with_the_first_byte_timeout)
{
	struct call *call = rig_call(&rig, "/silent");
	cr_assert_eq(call_start(call, rig.net), 0);
	while (server_counts(rig.server)->requests == 0) {
		usleep(1000);
	}
	clock_advance_ms(9000);
	usleep(50000);
	cr_assert_eq(call->done_count, 0);
	clock_advance_ms(1100);
	call_wait(call);
	cr_assert_eq(call->result.failure, NET_TIMEOUT);
	cr_assert_eq(call->result.first_byte_us, 0);
	cr_assert_str_eq(call->detail, "No answer came in time");
	call_destroy(call);
}

Test(timeouts, a_stall_ends_and_its_connection_is_dropped)
{
	struct call *call = rig_call(&rig, "/stall/200000");
	cr_assert_eq(call_start(call, rig.net), 0);
	call_wait_body(call, 100000);
	clock_advance_ms(10100);
	call_wait(call);
	cr_assert_eq(call->result.failure, NET_TIMEOUT);
	cr_assert_eq(call->result.body_bytes, 100000);
	cr_assert_str_eq(call->detail, "The answer stalled");
	rig_await_open(&rig, 0);
	call_destroy(call);
}

Test(timeouts, the_total_timeout_ends_any_state)
{
	struct call *call = rig_call(&rig, "/silent");
	call->spec.total_timeout_ms = 100;
	cr_assert_eq(call_run(call, rig.net), NET_TIMEOUT);
	call_destroy(call);
}
