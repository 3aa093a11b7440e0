#include "s3_script.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "store/object.h"

struct net_request sent;
unsigned submits;
int submit_error;
bool cancel_ends_at_once;
static const char *const *answer_headers; /* "Name: value", then NULL. */

static void forget_sent(void)
{
	free(sent.url);
	for (size_t i = 0; i < sent.header_count; i++) {
		free(sent.headers[i]);
	}
	memset(&sent, 0, sizeof(sent));
}

int net_submit(struct net *net, const struct net_request_spec *spec,
		struct net_request **out_request)
{
	if (submit_error != 0) {
		return submit_error;
	}
	forget_sent();
	submits++;
	sent.method = spec->method;
	sent.url = strdup(spec->url);
	for (size_t i = 0; spec->headers[i] != NULL; i++) {
		sent.headers[sent.header_count++] = strdup(spec->headers[i]);
	}
	sent.callbacks = spec->callbacks;
	sent.context = spec->context;
	*out_request = &sent;
	return 0;
}

void net_cancel(struct net_request *request)
{
	request->is_canceled = true;
	if (cancel_ends_at_once) {
		play(&(struct answer){.failure = NET_CANCELED});
	}
}

void net_request_unref(struct net_request *request)
{
}

static const char *find_header(
		const char *const *lines, size_t count, const char *name)
{
	const size_t length = strlen(name);
	for (size_t i = 0; i < count && lines[i] != NULL; i++) {
		if (strncasecmp(lines[i], name, length) == 0 &&
				lines[i][length] == ':') {
			return lines[i] + length + 2;
		}
	}
	return NULL;
}

const char *net_response_header(
		const struct net_response *response, const char *name)
{
	return answer_headers == NULL ? NULL
				      : find_header(answer_headers, 100, name);
}

const char *sent_header(const char *name)
{
	return find_header((const char *const *)sent.headers, sent.header_count,
			name);
}

/* ---- Playing an answer ---- */

void play(const struct answer *answer)
{
	struct net_result result = {
			.failure = answer->failure,
			.response = {.status = answer->status,
					.content_length = -1,
					.request = &sent},
			.detail = "words of the network",
	};
	const struct net_callbacks *callbacks = sent.callbacks;
	void *context = sent.context;
	int error = 0;

	answer_headers = answer->headers;
	if (answer->status != 0) {
		error = callbacks->on_headers(context, &result.response);
	}
	/* Two pieces, so that state between them counts. */
	const size_t length = answer->body != NULL ? strlen(answer->body) : 0;
	const size_t half = length / 2;
	if (error == 0 && half > 0) {
		error = callbacks->on_body(context, answer->body, half);
	}
	if (error == 0 && length > half) {
		error = callbacks->on_body(
				context, answer->body + half, length - half);
	}
	if (error < 0 || sent.is_canceled) {
		result.failure = NET_CANCELED;
	}
	callbacks->on_done(context, &result);
	answer_headers = NULL;
}

/* ---- What the caller sees ---- */

struct seen seen;

static void see(const struct store_outcome *outcome)
{
	seen.done++;
	seen.error = outcome->error;
	seen.status = outcome->http_status;
	seen.advice = outcome->advice;
	seen.repair = outcome->repair;
	snprintf(seen.detail, sizeof(seen.detail), "%s", outcome->detail);
}

static void on_stat(void *context, const struct store_outcome *outcome,
		struct object *found)
{
	see(outcome);
	cr_expect_eq(found != NULL, outcome->error == 0);
	seen.object = found != NULL ? object_ref(found) : NULL;
}

static void on_list(void *context, const struct store_outcome *outcome,
		const struct store_page *page)
{
	see(outcome);
	cr_expect_eq(page != NULL, outcome->error == 0);
	for (size_t i = 0; page != NULL && i < page->entry_count; i++) {
		strcat(seen.keys, page->entries[i].key);
		strcat(seen.keys, " ");
	}
	if (page != NULL && page->next_token != NULL) {
		strcpy(seen.token, page->next_token);
	}
}

static int on_data(
		void *context, uint64_t offset, const void *data, size_t length)
{
	if (seen.refuse_data) {
		return -ECANCELED;
	}
	if (seen.data_length == 0) {
		seen.data_offset = offset;
	}
	cr_expect_eq(offset, seen.data_offset + seen.data_length);
	memcpy(seen.data + seen.data_length, data, length);
	seen.data_length += length;
	return 0;
}

static void on_get(void *context, const struct store_outcome *outcome)
{
	see(outcome);
}

const struct store_callbacks_stat stat_callbacks = {on_stat};
const struct store_callbacks_list list_callbacks = {on_list};
const struct store_callbacks_get get_callbacks = {on_data, on_get};

/* ---- The store ---- */

struct counters counters;
struct store *store;
struct object *object;
char credentials[] = "/tmp/shardfs-s3-XXXXXX";

struct store_settings settings = {
		.counters = &counters,
		.endpoint_url = "http://h:9000",
		.region = "us-1",
		.path_style = -1,
};

void open_store(void)
{
	char message[1200];
	cr_assert_eq(store_open("s3://data/p", &settings, &store, message,
				     sizeof(message)),
			0, "%s", message);
	object = object_create(store, "p/a b+c", "\"e\"", 100, 1000);
}

void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

void write_keys(const char *id)
{
	char text[200];
	snprintf(text, sizeof(text),
			"[default]\naws_access_key_id = %s\n"
			"aws_secret_access_key = marker-secret\n",
			id);
	write_file(credentials, text);
}

void script_start(void)
{
	clearenv();
	const int fd = mkstemp(credentials);
	cr_assert_geq(fd, 0);
	close(fd);
	write_keys("first");
	setenv("AWS_CONFIG_FILE", "/dev/null", 1);
	setenv("AWS_SHARED_CREDENTIALS_FILE", credentials, 1);
}

void script_finish(void)
{
	object_unref(seen.object);
	object_unref(object);
	store_destroy(store);
	forget_sent();
	(void)unlink(credentials);
}

void get_range(uint64_t offset, uint64_t length)
{
	cr_assert_eq(store_get(store, object, offset, length, &get_callbacks,
				     NULL, NULL),
			0);
}

const struct answer good_range = {.status = 206,
		.headers = {"ETag: \"e\"", "Content-Range: bytes 10-14/100"},
		.body = "01234"};
