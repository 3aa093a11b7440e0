#include "rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

struct net_settings rig_settings(void)
{
	struct net_settings settings;
	net_settings_defaults(&settings);
	settings.loop_count = 1;
	settings.connect_timeout_ms = 2000;
	return settings;
}

void rig_start(struct rig *rig)
{
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	const struct net_settings settings = rig_settings();
	cr_assert_eq(net_create(&settings, &rig->net), 0);
	rig->server = server_start();
}

void rig_finish(struct rig *rig)
{
	net_destroy(rig->net);
	server_stop(rig->server);
}

struct call *rig_call(const struct rig *rig, const char *path)
{
	return call_create(server_port(rig->server), path);
}

enum net_failure rig_outcome(const struct rig *rig, const char *path)
{
	struct call *call = rig_call(rig, path);
	enum net_failure failure = call_run(call, rig->net);
	cr_assert_eq(call->done_count, 1);
	call_destroy(call);
	return failure;
}

void rig_assert_whole(const struct rig *rig, const char *path, size_t length)
{
	struct call *call = rig_call(rig, path);
	cr_assert_eq(call_run(call, rig->net), NET_OK, "%s: %s", path,
			call->detail);
	cr_assert_eq(call->result.response.status, 200);
	cr_assert_eq(call->result.body_bytes, length);
	cr_assert_eq(call->body_length, length);
	cr_assert_eq(call->headers_count, 1);
	cr_assert_not(call->body_differs);
	cr_assert_gt(call->result.first_byte_us, 0);
	cr_assert_geq(call->result.total_us, call->result.first_byte_us);
	call_destroy(call);
}

void rig_await_open(const struct rig *rig, size_t expected)
{
	for (size_t i = 0; i < 500; i++) {
		if (server_counts(rig->server)->open == expected) {
			return;
		}
		usleep(10000);
	}
	cr_assert_eq(server_counts(rig->server)->open, expected);
}

uint16_t rig_closed_port(void)
{
	struct server *other = server_start();
	uint16_t port = server_port(other);
	server_stop(other);
	return port;
}
