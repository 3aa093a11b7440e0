#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
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

TestSuite(endpoint, .init = set_up, .fini = tear_down, .timeout = 30);

Test(endpoint, a_refused_or_unknown_endpoint_is_unreachable)
{
	struct call *call = call_create(rig_closed_port(), "/ok/1");
	cr_assert_eq(call_run(call, rig.net), NET_UNREACHABLE);
	cr_assert_eq(call->result.response.status, 0);
	call_destroy(call);
	/* More than once: the handle of a failed lookup is not taken again. */
	for (int i = 0; i < 3; i++) {
		call = rig_call(&rig, "/ok/1");
		call->spec.url = "http://no-such-host.invalid/";
		cr_assert_eq(call_run(call, rig.net), NET_UNREACHABLE);
		call_destroy(call);
	}
}

Test(endpoint, a_plain_server_is_no_tls_server)
{
	struct call *call = rig_call(&rig, "/ok/1");
	char url[100];
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%u/ok/1",
			(unsigned)server_port(rig.server));
	call->spec.url = url;
	enum net_failure failure = call_run(call, rig.net);
	/* It hangs up in the handshake, which a network may do too. */
	cr_assert(failure == NET_TLS || failure == NET_UNREACHABLE);
	call_destroy(call);
}

Test(endpoint, a_lack_of_descriptors_is_not_the_endpoints_fault)
{
	struct rlimit limit;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	int lowest_free = dup(0);
	close(lowest_free);
	struct rlimit none = limit;
	none.rlim_cur = (rlim_t)lowest_free;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct call *call = rig_call(&rig, "/ok/1");
	enum net_failure failure = call_run(call, rig.net);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(failure, NET_INTERNAL, "%s", call->detail);
	call_destroy(call);
	rig_assert_whole(&rig, "/ok/1", 1);
}

Test(endpoint, a_ca_bundle_that_cannot_be_read_is_told_at_once)
{
	struct net_settings settings = rig_settings();
	struct net *other = NULL;
	settings.ca_bundle = "/nowhere.pem";
	cr_assert_eq(net_create(&settings, &other), -ENOENT);
	cr_assert_null(other);
}
