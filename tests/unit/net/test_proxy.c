#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

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

TestSuite(proxy, .init = set_up, .fini = tear_down, .timeout = 30);

Test(proxy, a_proxy_is_asked_unless_the_request_forbids_it)
{
	net_destroy(rig.net);
	char proxy[100];
	struct net_settings settings = rig_settings();
	(void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u",
			(unsigned)server_port(rig.server));
	settings.proxy = proxy;
	cr_assert_eq(net_create(&settings, &rig.net), 0);
	struct call *call = call_create(rig_closed_port(), "/ok/1");
	cr_assert_eq(call_start(call, rig.net), 0);
	call_wait(call);
	/* The path of a proxied request is its URL, unknown to the server. */
	cr_assert_neq(call->result.failure, NET_OK);
	cr_assert_eq(server_counts(rig.server)->requests, 1);
	call_destroy(call);
	call = rig_call(&rig, "/ok/1");
	call->spec.no_proxy = true;
	cr_assert_eq(call_run(call, rig.net), NET_OK);
	call_destroy(call);
}

Test(proxy, the_environments_proxy_is_asked_unless_no_proxy_names_the_host)
{
	char proxy[100];
	(void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u",
			(unsigned)server_port(rig.server));
	setenv("http_proxy", proxy, 1);
	struct call *call = call_create(rig_closed_port(), "/ok/1");
	cr_assert_eq(call_start(call, rig.net), 0);
	call_wait(call);
	cr_assert_eq(server_counts(rig.server)->requests, 1);
	call_destroy(call);
	setenv("no_proxy", "127.0.0.1", 1);
	call = call_create(rig_closed_port(), "/ok/1");
	cr_assert_eq(call_run(call, rig.net), NET_UNREACHABLE);
	cr_assert_eq(server_counts(rig.server)->requests, 1);
	call_destroy(call);
}
