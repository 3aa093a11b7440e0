#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

TestSuite(requests, .init = set_up, .fini = tear_down, .timeout = 30);

Test(requests, content_length_is_told_with_the_headers)
{
	struct call *call = rig_call(&rig, "/ok/1234");
	cr_assert_eq(call_run(call, rig.net), NET_OK);
	cr_assert_eq(call->headers_length, 1234);
	call_destroy(call);
	call = rig_call(&rig, "/chunked/1234");
	cr_assert_eq(call_run(call, rig.net), NET_OK);
	cr_assert_eq(call->headers_length, -1);
	call_destroy(call);
}

Test(requests, head_has_a_length_and_no_body)
{
	struct call *call = rig_call(&rig, "/ok/5000");
	call->spec.method = NET_HEAD;
	cr_assert_eq(call_run(call, rig.net), NET_OK);
	cr_assert_eq(call->headers_length, 5000);
	cr_assert_eq(call->body_length, 0);
	call_destroy(call);
	rig_assert_whole(&rig, "/ok/10", 10); /* On the same connection. */
	cr_assert_eq(server_counts(rig.server)->connections, 1);
}

static char *echo(struct call *call)
{
	cr_assert_eq(call_run(call, rig.net), NET_OK, "%s", call->detail);
	return call->body;
}

Test(requests, a_url_is_sent_letter_for_letter)
{
	struct call *call =
			rig_call(&rig, "/echo/a/../b/./c//d%2F%2e?x=/../y&z");
	cr_assert_eq(strncmp(echo(call),
				     "GET /echo/a/../b/./c//d%2F%2e?x=/../y&z "
				     "HTTP/1.1\r\n",
				     strlen("GET "
					    "/echo/a/../b/./c//d%2F%2e?x=/../y&"
					    "z HTTP/1.1\r\n")),
			0);
	call_destroy(call);
}

Test(requests, fields_of_the_caller_are_sent_and_no_others_but_host)
{
	static const char *const fields[] = {"Range: bytes=0-9",
			"If-Match: \"x\"", "Host: other.example", "Accept: a/b",
			NULL};
	struct call *call = rig_call(&rig, "/echo");
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
	struct call *call = rig_call(&rig, "/echo");
	char *copy = strdup(body);
	call->spec.method = method;
	call->spec.body = copy;
	call->spec.body_length = strlen(body);
	cr_assert_eq(call_start(call, rig.net), 0);
	memset(copy, '!', strlen(body)); /* It was copied. */
	free(copy);
	call_wait(call);
	cr_assert_eq(strncmp(call->body, line, strlen(line)), 0);
	cr_assert_not_null(strstr(call->body, length));
	cr_assert_null(strcasestr(call->body, "Expect"));
	cr_assert_str_eq(strstr(call->body, "\r\n\r\n") + 4, body);
	call_destroy(call);
}

Test(requests, post_and_put_carry_their_body)
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

Test(requests, refuses_urls_and_fields_that_could_smuggle)
{
	static const char *const urls[] = {"file:///etc/passwd",
			"ftp://127.0.0.1/", "http://u:p@127.0.0.1/",
			"http://127.0.0.1/\r\nX: y", "127.0.0.1", ""};
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct call *call = rig_call(&rig, "/ok/1");
		call->spec.url = urls[i];
		cr_assert_eq(call_start(call, rig.net), -EINVAL, "took %s",
				urls[i]);
		call_destroy(call);
	}
	static const char *const fields[] = {"X: a\r\nY: b", NULL};
	struct call *call = rig_call(&rig, "/ok/1");
	call->spec.headers = fields;
	cr_assert_eq(call_start(call, rig.net), -EINVAL);
	call_destroy(call);
	cr_assert_eq(server_counts(rig.server)->connections, 0);
}
