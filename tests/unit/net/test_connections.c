#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
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

TestSuite(connections, .init = set_up, .fini = tear_down, .timeout = 30);

Test(connections, a_dead_kept_alive_connection_costs_no_error)
{
	for (size_t i = 0; i < 20; i++) {
		rig_assert_whole(&rig, "/once/100", 100);
	}
	cr_assert_eq(server_counts(rig.server)->connections, 20);
	for (size_t i = 0; i < 20; i++) {
		cr_assert_eq(rig_outcome(&rig, "/bye"), NET_OK);
	}
}

Test(connections, one_connection_serves_one_request_after_the_other)
{
	for (size_t i = 0; i < 50; i++) {
		rig_assert_whole(&rig, "/ok/100", 100);
	}
	cr_assert_eq(server_counts(rig.server)->connections, 1);
	struct call *call = rig_call(&rig, "/ok/100");
	call->spec.fresh_connection = true;
	cr_assert_eq(call_run(call, rig.net), NET_OK);
	cr_assert_eq(server_counts(rig.server)->connections, 2);
	call_destroy(call);
}

Test(connections, idle_connections_are_closed_in_time)
{
	rig_assert_whole(&rig, "/ok/100", 100);
	cr_assert_eq(server_counts(rig.server)->open, 1);
	clock_advance_ms(16000);
	rig_await_open(&rig, 0);
	rig_assert_whole(&rig, "/ok/100", 100);
	cr_assert_eq(server_counts(rig.server)->connections, 2);
}

/* Our sockets in the state CLOSE_WAIT (8) towards the server's port. */
static size_t close_wait_count(void)
{
	FILE *file = fopen("/proc/net/tcp", "re");
	cr_assert_not_null(file);
	char line[512];
	size_t count = 0;
	while (fgets(line, sizeof(line), file) != NULL) {
		unsigned port = 0;
		unsigned state = 0;
		if (sscanf(line, "%*s %*x:%*x %*x:%x %x", &port, &state) == 2) {
			count += port == server_port(rig.server) && state == 8;
		}
	}
	fclose(file);
	return count;
}

Test(connections, a_connection_that_the_server_ends_leaves_no_close_wait)
{
	struct call *calls[20];
	for (size_t i = 0; i < 20; i++) {
		calls[i] = rig_call(&rig, "/bye");
		cr_assert_eq(call_start(calls[i], rig.net), 0);
	}
	for (size_t i = 0; i < 20; i++) {
		call_wait(calls[i]);
		call_destroy(calls[i]);
	}
	rig_await_open(&rig, 0);
	for (size_t i = 0; i < 300 && close_wait_count() > 0; i++) {
		usleep(10000);
	}
	cr_assert_eq(close_wait_count(), 0);
	rig_assert_whole(&rig, "/ok/1", 1);
}

static void run_parallel(size_t count, const char *path, size_t length)
{
	struct call **calls = calloc(count, sizeof(*calls));
	for (size_t i = 0; i < count; i++) {
		calls[i] = rig_call(&rig, path);
		cr_assert_eq(call_start(calls[i], rig.net), 0);
	}
	for (size_t i = 0; i < count; i++) {
		call_wait(calls[i]);
		cr_assert_eq(calls[i]->result.failure, NET_OK, "%s",
				calls[i]->detail);
		cr_assert_eq(calls[i]->body_length, length);
		cr_assert_not(calls[i]->body_differs);
		call_destroy(calls[i]);
	}
	free(calls);
}

static void await_open_at_most(size_t most)
{
	for (size_t i = 0; i < 500; i++) {
		if (server_counts(rig.server)->open <= most) {
			return;
		}
		usleep(10000);
	}
	cr_assert_leq(server_counts(rig.server)->open, most);
}

Test(connections, two_hundred_requests_at_once_on_several_loops)
{
	net_destroy(rig.net);
	struct net_settings settings = rig_settings();
	settings.loop_count = 3;
	settings.max_connections = 64;
	cr_assert_eq(net_create(&settings, &rig.net), 0);
	run_parallel(200, "/ok/100000", 100000);
	/* A third of 64 for each loop, rounded up. */
	await_open_at_most(66);
	run_parallel(60, "/ok/1000", 1000);
	await_open_at_most(66);
}

Test(connections, sockets_are_closed_on_exec)
{
	rig_assert_whole(&rig, "/ok/1", 1);
	size_t sockets = 0;
	for (int fd = 3; fd < 100; fd++) {
		struct sockaddr_storage peer;
		socklen_t length = sizeof(peer);
		if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0 &&
				peer.ss_family == AF_INET) {
			sockets++;
			cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		}
	}
	/* The server's end, which it opened so too, and ours. */
	cr_assert_eq(sockets, 2);
}
