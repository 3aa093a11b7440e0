#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "call.h"
#include "http_server.h"
#include "net/net.h"

static struct net *net;
static struct server *server;

static struct net_settings quick(void)
{
	struct net_settings settings;
	net_settings_defaults(&settings);
	settings.loop_count = 1;
	settings.connect_timeout_ms = 2000;
	return settings;
}

static void start(const struct net_settings *settings)
{
	cr_assert_eq(net_create(settings, &net), 0);
	server = server_start();
}

static void init(void)
{
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	struct net_settings settings = quick();
	start(&settings);
}

static void finish(void)
{
	net_destroy(net);
	server_stop(server);
}

TestSuite(net, .init = init, .fini = finish, .timeout = 30);

static struct call *make(const char *path)
{
	return call_create(server_port(server), path);
}

/* Runs a request and forgets all but its failure. */
static enum net_failure outcome(const char *path)
{
	struct call *call = make(path);
	enum net_failure failure = call_run(call, net);
	cr_assert_eq(call->done_count, 1);
	call_destroy(call);
	return failure;
}

static void assert_whole(const char *path, size_t length)
{
	struct call *call = make(path);
	cr_assert_eq(call_run(call, net), NET_OK, "%s: %s", path, call->detail);
	cr_assert_eq(call->result.response.status, 200);
	cr_assert_eq(call->result.body_bytes, length);
	cr_assert_eq(call->body_length, length);
	cr_assert_eq(call->headers_count, 1);
	cr_assert_not(call->body_differs);
	cr_assert_gt(call->result.first_byte_us, 0);
	cr_assert_geq(call->result.total_us, call->result.first_byte_us);
	call_destroy(call);
}

Test(net, a_body_comes_whole_however_it_is_sent)
{
	assert_whole("/ok/0", 0);
	assert_whole("/ok/1", 1);
	assert_whole("/ok/3000000", 3000000);
	assert_whole("/chunked/123456", 123456);
	assert_whole("/trickle/700", 700);
	assert_whole("/until-close/70000", 70000);
}

Test(net, content_length_is_told_with_the_headers)
{
	struct call *call = make("/ok/1234");
	cr_assert_eq(call_run(call, net), NET_OK);
	cr_assert_eq(call->headers_length, 1234);
	call_destroy(call);
	call = make("/chunked/1234");
	cr_assert_eq(call_run(call, net), NET_OK);
	cr_assert_eq(call->headers_length, -1);
	call_destroy(call);
}

Test(net, head_has_a_length_and_no_body)
{
	struct call *call = make("/ok/5000");
	call->spec.method = NET_HEAD;
	cr_assert_eq(call_run(call, net), NET_OK);
	cr_assert_eq(call->headers_length, 5000);
	cr_assert_eq(call->body_length, 0);
	call_destroy(call);
	assert_whole("/ok/10", 10); /* On the same connection. */
	cr_assert_eq(server_counts(server)->connections, 1);
}

static char *echo(struct call *call)
{
	cr_assert_eq(call_run(call, net), NET_OK, "%s", call->detail);
	return call->body;
}

Test(net, a_url_is_sent_letter_for_letter)
{
	struct call *call = make("/echo/a/../b/./c//d%2F%2e?x=/../y&z");
	cr_assert_eq(strncmp(echo(call),
				     "GET /echo/a/../b/./c//d%2F%2e?x=/../y&z "
				     "HTTP/1.1\r\n",
				     strlen("GET "
					    "/echo/a/../b/./c//d%2F%2e?x=/../y&"
					    "z HTTP/1.1\r\n")),
			0);
	call_destroy(call);
}

Test(net, fields_of_the_caller_are_sent_and_no_others_but_host)
{
	static const char *const fields[] = {"Range: bytes=0-9",
			"If-Match: \"x\"", "Host: other.example", "Accept: a/b",
			NULL};
	struct call *call = make("/echo");
	call->spec.headers = fields;
	char *request = echo(call);
	cr_assert_not_null(strstr(request, "\r\nRange: bytes=0-9\r\n"));
	cr_assert_not_null(strstr(request, "\r\nIf-Match: \"x\"\r\n"));
	cr_assert_not_null(strstr(request, "\r\nHost: other.example\r\n"));
	cr_assert_null(strstr(request, "127.0.0.1"));
	cr_assert_null(strcasestr(request, "Accept-Encoding"));
	cr_assert_null(strcasestr(request, "Content-Type"));
	call_destroy(call);
}

static void assert_sent(enum net_method method, const char *body,
		const char *line, const char *length)
{
	struct call *call = make("/echo");
	char *copy = strdup(body);
	call->spec.method = method;
	call->spec.body = copy;
	call->spec.body_length = strlen(body);
	cr_assert_eq(call_start(call, net), 0);
	memset(copy, '!', strlen(body)); /* It was copied. */
	free(copy);
	call_wait(call);
	cr_assert_eq(strncmp(call->body, line, strlen(line)), 0);
	cr_assert_not_null(strstr(call->body, length));
	cr_assert_null(strcasestr(call->body, "Expect"));
	cr_assert_str_eq(strstr(call->body, "\r\n\r\n") + 4, body);
	call_destroy(call);
}

Test(net, post_and_put_carry_their_body)
{
	static char large[3000];
	memset(large, 'x', sizeof(large) - 1);
	assert_sent(NET_POST, "a=b", "POST /echo ",
			"\r\nContent-Length: 3\r\n");
	assert_sent(NET_PUT, "", "PUT /echo ", "\r\nContent-Length: 0\r\n");
	assert_sent(NET_POST, "", "POST /echo ", "\r\nContent-Length: 0\r\n");
	assert_sent(NET_PUT, large, "PUT /echo ",
			"\r\nContent-Length: 2999\r\n");
}

Test(net, refuses_urls_and_fields_that_could_smuggle)
{
	static const char *const urls[] = {"file:///etc/passwd",
			"ftp://127.0.0.1/", "http://u:p@127.0.0.1/",
			"http://127.0.0.1/\r\nX: y", "127.0.0.1", ""};
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct call *call = make("/ok/1");
		call->spec.url = urls[i];
		cr_assert_eq(call_start(call, net), -EINVAL, "took %s",
				urls[i]);
		call_destroy(call);
	}
	static const char *const fields[] = {"X: a\r\nY: b", NULL};
	struct call *call = make("/ok/1");
	call->spec.headers = fields;
	cr_assert_eq(call_start(call, net), -EINVAL);
	call_destroy(call);
	cr_assert_eq(server_counts(server)->connections, 0);
}

Test(net, any_status_is_a_whole_answer)
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
		struct call *call = make(table[i].path);
		cr_assert_eq(call_run(call, net), NET_OK, "%s", call->detail);
		cr_assert_eq(call->result.response.status, table[i].status);
		call_destroy(call);
	}
	cr_assert_eq(server_counts(server)->requests,
			sizeof(table) / sizeof(table[0]));
}

Test(net, a_compressed_body_is_not_unpacked)
{
	struct call *call = make("/encoded/1000");
	cr_assert_eq(call_run(call, net), NET_OK, "%s", call->detail);
	cr_assert_eq(call->body_length, 1000);
	cr_assert_not(call->body_differs);
	call_destroy(call);
}

Test(net, interim_answers_and_trailers_are_not_the_answer)
{
	struct call *call = make("/interim/3");
	cr_assert_eq(call_run(call, net), NET_OK, "%s", call->detail);
	cr_assert_eq(call->headers_count, 1);
	cr_assert_eq(call->headers_status, 200);
	cr_assert_str_eq(call->etag, "final");
	call_destroy(call);
	call = make("/trailer");
	cr_assert_eq(call_run(call, net), NET_OK, "%s", call->detail);
	cr_assert_str_eq(call->etag, "good");
	cr_assert_eq(call->body_length, 1);
	call_destroy(call);
}

Test(net, headers_have_limits)
{
	assert_whole("/fields/199", 0);
	assert_whole("/field/60000", 0);
	cr_assert_eq(outcome("/fields/201"), NET_PROTOCOL);
	cr_assert_eq(outcome("/field/70000"), NET_PROTOCOL);
	cr_assert_eq(outcome("/field/300000"), NET_PROTOCOL);
	cr_assert_eq(outcome("/interim/1000"), NET_PROTOCOL);
	assert_whole("/ok/10", 10);
}

Test(net, what_is_not_http_is_told_apart)
{
	struct call *call = make("/garbage");
	cr_assert_eq(call_run(call, net), NET_PROTOCOL, "%s", call->detail);
	cr_assert_eq(call->result.response.status, 0);
	cr_assert_eq(call->headers_count, 0);
	cr_assert_eq(call->body_length, 0);
	call_destroy(call);
}

Test(net, a_break_on_a_new_connection_is_broken)
{
	cr_assert_eq(outcome("/reset"), NET_BROKEN);
	cr_assert_eq(outcome("/nothing"), NET_BROKEN);
	cr_assert_eq(outcome("/short/100000"), NET_BROKEN);
	cr_assert_eq(outcome("/cut/100000"), NET_BROKEN);
}

Test(net, a_short_body_is_told_with_the_bytes_that_came)
{
	struct call *call = make("/short/100000");
	cr_assert_eq(call_run(call, net), NET_BROKEN);
	cr_assert_eq(call->result.response.status, 200);
	cr_assert_eq(call->result.body_bytes, 50000);
	cr_assert_not(call->body_differs);
	cr_assert_str_neq(call->detail, "");
	call_destroy(call);
}

Test(net, a_dead_kept_alive_connection_costs_no_error)
{
	for (size_t i = 0; i < 20; i++) {
		assert_whole("/once/100", 100);
	}
	cr_assert_eq(server_counts(server)->connections, 20);
	for (size_t i = 0; i < 20; i++) {
		cr_assert_eq(outcome("/bye"), NET_OK);
	}
}

Test(net, one_connection_serves_one_request_after_the_other)
{
	for (size_t i = 0; i < 50; i++) {
		assert_whole("/ok/100", 100);
	}
	cr_assert_eq(server_counts(server)->connections, 1);
	struct call *call = make("/ok/100");
	call->spec.fresh_connection = true;
	cr_assert_eq(call_run(call, net), NET_OK);
	cr_assert_eq(server_counts(server)->connections, 2);
	call_destroy(call);
}

static void await_open(size_t expected)
{
	for (size_t i = 0; i < 500; i++) {
		if (server_counts(server)->open == expected) {
			return;
		}
		usleep(10000);
	}
	cr_assert_eq(server_counts(server)->open, expected);
}

Test(net, idle_connections_are_closed_in_time)
{
	assert_whole("/ok/100", 100);
	cr_assert_eq(server_counts(server)->open, 1);
	clock_advance_ms(16000);
	await_open(0);
	assert_whole("/ok/100", 100);
	cr_assert_eq(server_counts(server)->connections, 2);
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
			count += port == server_port(server) && state == 8;
		}
	}
	fclose(file);
	return count;
}

Test(net, a_connection_that_the_server_ends_leaves_no_close_wait)
{
	struct call *calls[20];
	for (size_t i = 0; i < 20; i++) {
		calls[i] = make("/bye");
		cr_assert_eq(call_start(calls[i], net), 0);
	}
	for (size_t i = 0; i < 20; i++) {
		call_wait(calls[i]);
		call_destroy(calls[i]);
	}
	await_open(0);
	for (size_t i = 0; i < 300 && close_wait_count() > 0; i++) {
		usleep(10000);
	}
	cr_assert_eq(close_wait_count(), 0);
	assert_whole("/ok/1", 1);
}

Test(net, silence_ends_with_the_first_byte_timeout)
{
	struct call *call = make("/silent");
	cr_assert_eq(call_start(call, net), 0);
	while (server_counts(server)->requests == 0) {
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

Test(net, a_stall_ends_and_its_connection_is_dropped)
{
	struct call *call = make("/stall/200000");
	cr_assert_eq(call_start(call, net), 0);
	call_wait_body(call, 100000);
	clock_advance_ms(10100);
	call_wait(call);
	cr_assert_eq(call->result.failure, NET_TIMEOUT);
	cr_assert_eq(call->result.body_bytes, 100000);
	cr_assert_str_eq(call->detail, "The answer stalled");
	await_open(0);
	call_destroy(call);
}

Test(net, the_total_timeout_ends_any_state)
{
	struct call *call = make("/silent");
	call->spec.total_timeout_ms = 100;
	cr_assert_eq(call_run(call, net), NET_TIMEOUT);
	call_destroy(call);
}

/* A port that nobody listens on. */
static uint16_t closed_port(void)
{
	struct server *other = server_start();
	uint16_t port = server_port(other);
	server_stop(other);
	return port;
}

Test(net, a_refused_or_unknown_endpoint_is_unreachable)
{
	struct call *call = call_create(closed_port(), "/ok/1");
	cr_assert_eq(call_run(call, net), NET_UNREACHABLE);
	cr_assert_eq(call->result.response.status, 0);
	call_destroy(call);
	/* More than once: the handle of a failed lookup is not taken again. */
	for (int i = 0; i < 3; i++) {
		call = make("/ok/1");
		call->spec.url = "http://no-such-host.invalid/";
		cr_assert_eq(call_run(call, net), NET_UNREACHABLE);
		call_destroy(call);
	}
}

Test(net, a_plain_server_is_no_tls_server)
{
	struct call *call = make("/ok/1");
	char url[100];
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%u/ok/1",
			(unsigned)server_port(server));
	call->spec.url = url;
	enum net_failure failure = call_run(call, net);
	/* It hangs up in the handshake, which a network may do too. */
	cr_assert(failure == NET_TLS || failure == NET_UNREACHABLE);
	call_destroy(call);
}

Test(net, a_callbacks_refusal_cancels_and_drops_the_connection)
{
	struct call *call = make("/ok/3000000");
	call->refuse_body_after = 100000;
	cr_assert_eq(call_run(call, net), NET_CANCELED);
	cr_assert_lt(call->body_length, 300000);
	call_destroy(call);
	call = make("/ok/100");
	call->refuse_headers = true;
	cr_assert_eq(call_run(call, net), NET_CANCELED);
	cr_assert_eq(call->body_length, 0);
	cr_assert_eq(call->result.response.status, 200);
	call_destroy(call);
	await_open(0);
}

Test(net, cancel_ends_a_request_in_every_state)
{
	struct call *queued = make("/silent");
	cr_assert_eq(call_start(queued, net), 0);
	net_cancel(queued->request);
	call_wait(queued);
	cr_assert_eq(queued->result.failure, NET_CANCELED);
	cr_assert_str_eq(queued->detail, "Canceled");

	struct call *waiting = make("/silent");
	size_t before = server_counts(server)->requests;
	cr_assert_eq(call_start(waiting, net), 0);
	while (server_counts(server)->requests == before) {
		usleep(1000);
	}
	net_cancel(waiting->request);
	call_wait(waiting);
	cr_assert_eq(waiting->result.failure, NET_CANCELED);

	struct call *receiving = make("/stall/200000");
	cr_assert_eq(call_start(receiving, net), 0);
	call_wait_body(receiving, 100000);
	net_cancel(receiving->request);
	net_cancel(receiving->request);
	call_wait(receiving);
	cr_assert_eq(receiving->result.failure, NET_CANCELED);

	struct call *done = make("/ok/1");
	cr_assert_eq(call_run(done, net), NET_OK);
	net_cancel(done->request);
	cr_assert_eq(outcome("/ok/1"), NET_OK);
	cr_assert_eq(done->done_count, 1);
	await_open(1);
	call_destroy(queued);
	call_destroy(waiting);
	call_destroy(receiving);
	call_destroy(done);
}

Test(net, cancel_after_destroy_is_harmless)
{
	struct call *call = make("/silent");
	cr_assert_eq(call_start(call, net), 0);
	net_destroy(net);
	net = NULL;
	cr_assert_eq(call->done_count, 1);
	cr_assert_eq(call->result.failure, NET_CANCELED);
	net_cancel(call->request);
	call_destroy(call);
}

static struct call *retry;
static int retry_error;

static void submit_retry(struct call *call)
{
	retry_error = call_start(retry, net);
}

Test(net, a_callback_may_submit_but_not_while_the_net_ends)
{
	struct call *call = make("/ok/1");
	retry = make("/ok/2");
	call->then = submit_retry;
	cr_assert_eq(call_run(call, net), NET_OK);
	cr_assert_eq(retry_error, 0);
	call_wait(retry);
	cr_assert_eq(retry->result.failure, NET_OK);
	call_destroy(call);
	call_destroy(retry);

	call = make("/silent");
	retry = make("/ok/2");
	call->then = submit_retry;
	cr_assert_eq(call_start(call, net), 0);
	struct net *ending = net;
	net_destroy(ending);
	net = NULL;
	cr_assert_eq(call->result.failure, NET_CANCELED);
	cr_assert_eq(retry_error, -ECANCELED);
	cr_assert_eq(retry->done_count, 0);
	call_destroy(call);
	call_destroy(retry);
}

Test(net, without_a_reference_a_request_ends_by_itself)
{
	struct call *call = make("/ok/1000");
	cr_assert_eq(net_submit(net, &call->spec, NULL), 0);
	call_wait(call);
	cr_assert_eq(call->result.failure, NET_OK);
	call_destroy(call);
}

static void run_parallel(size_t count, const char *path, size_t length)
{
	struct call **calls = calloc(count, sizeof(*calls));
	for (size_t i = 0; i < count; i++) {
		calls[i] = make(path);
		cr_assert_eq(call_start(calls[i], net), 0);
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
		if (server_counts(server)->open <= most) {
			return;
		}
		usleep(10000);
	}
	cr_assert_leq(server_counts(server)->open, most);
}

Test(net, two_hundred_requests_at_once_on_several_loops)
{
	net_destroy(net);
	struct net_settings settings = quick();
	settings.loop_count = 3;
	settings.max_connections = 64;
	cr_assert_eq(net_create(&settings, &net), 0);
	run_parallel(200, "/ok/100000", 100000);
	/* A third of 64 for each loop, rounded up. */
	await_open_at_most(66);
	run_parallel(60, "/ok/1000", 1000);
	await_open_at_most(66);
}

Test(net, sockets_are_closed_on_exec)
{
	assert_whole("/ok/1", 1);
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

Test(net, a_proxy_is_asked_unless_the_request_forbids_it)
{
	net_destroy(net);
	char proxy[100];
	struct net_settings settings = quick();
	(void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u",
			(unsigned)server_port(server));
	settings.proxy = proxy;
	cr_assert_eq(net_create(&settings, &net), 0);
	struct call *call = call_create(closed_port(), "/ok/1");
	cr_assert_eq(call_start(call, net), 0);
	call_wait(call);
	/* The path of a proxied request is its URL, unknown to the server. */
	cr_assert_neq(call->result.failure, NET_OK);
	cr_assert_eq(server_counts(server)->requests, 1);
	call_destroy(call);
	call = make("/ok/1");
	call->spec.no_proxy = true;
	cr_assert_eq(call_run(call, net), NET_OK);
	call_destroy(call);
}

Test(net, the_environments_proxy_is_asked_unless_no_proxy_names_the_host)
{
	char proxy[100];
	(void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u",
			(unsigned)server_port(server));
	setenv("http_proxy", proxy, 1);
	struct call *call = call_create(closed_port(), "/ok/1");
	cr_assert_eq(call_start(call, net), 0);
	call_wait(call);
	cr_assert_eq(server_counts(server)->requests, 1);
	call_destroy(call);
	setenv("no_proxy", "127.0.0.1", 1);
	call = call_create(closed_port(), "/ok/1");
	cr_assert_eq(call_run(call, net), NET_UNREACHABLE);
	cr_assert_eq(server_counts(server)->requests, 1);
	call_destroy(call);
}

Test(net, a_lack_of_descriptors_is_not_the_endpoints_fault)
{
	struct rlimit limit;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	int lowest_free = dup(0);
	close(lowest_free);
	struct rlimit none = limit;
	none.rlim_cur = (rlim_t)lowest_free;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct call *call = make("/ok/1");
	enum net_failure failure = call_run(call, net);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(failure, NET_INTERNAL, "%s", call->detail);
	call_destroy(call);
	assert_whole("/ok/1", 1);
}

Test(net, a_ca_bundle_that_cannot_be_read_is_told_at_once)
{
	struct net_settings settings = quick();
	struct net *other = NULL;
	settings.ca_bundle = "/nowhere.pem";
	cr_assert_eq(net_create(&settings, &other), -ENOENT);
	cr_assert_null(other);
}
