/*
 * S3 calls from several threads over a network of two threads that answers at
 * random: as hoped, refused, with another region, or broken. Some calls are
 * canceled, the keys are replaced all the time, and each round ends with a
 * destroy while calls are under way. Each call must end exactly once.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "net/net.h"
#include "store/object.h"
#include "store/open.h"
#include "store/store.h"

#define ROUNDS 8
#define CALLERS 4
#define CALLS 300
#define NET_THREADS 2

struct net_request {
	const struct net_callbacks *callbacks;
	void *context;
	atomic_bool is_canceled;
	atomic_uint references;
	unsigned kind;
	struct net_request *next;
};

/* Guarded by lock: */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct net_request *queue;
static bool is_ending;

static atomic_uint started, ended;
static struct counters counters;
static struct store *store;
static struct object *object;
static char credentials[] = "/tmp/shardfs-stress-s3-XXXXXX";

/* ---- The network ---- */

int net_submit(struct net *net, const struct net_request_spec *spec,
		struct net_request **out_request)
{
	static atomic_uint number;
	struct net_request *request = calloc(1, sizeof(*request));
	if (request == NULL) {
		abort();
	}
	request->callbacks = spec->callbacks;
	request->context = spec->context;
	request->kind = atomic_fetch_add(&number, 1);
	atomic_init(&request->references, 2);
	pthread_mutex_lock(&lock);
	request->next = queue;
	queue = request;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
	*out_request = request;
	return 0;
}

void net_cancel(struct net_request *request)
{
	atomic_store(&request->is_canceled, true);
}

void net_request_unref(struct net_request *request)
{
	if (atomic_fetch_sub(&request->references, 1) == 1) {
		free(request);
	}
}

const char *net_response_header(
		const struct net_response *response, const char *name)
{
	if (strcasecmp(name, "ETag") == 0) {
		return "\"e\"";
	}
	if (strcasecmp(name, "Content-Range") == 0) {
		return "bytes 0-3/100";
	}
	if (strcasecmp(name, "x-amz-bucket-region") == 0) {
		return response->request->kind % 2 == 0 ? "a" : "b";
	}
	return NULL;
}

static void answer(struct net_request *request)
{
	static const int statuses[] = {206, 206, 403, 301, 503, 206};
	struct net_result result = {
			.response = {.status = statuses[request->kind % 6],
					.content_length = -1,
					.request = request},
			.detail = ""};
	int error = request->callbacks->on_headers(
			request->context, &result.response);
	if (error == 0) {
		error = request->callbacks->on_body(
				request->context, "abcd", 4);
	}
	if (request->kind % 7 == 0) {
		result.failure = NET_BROKEN;
	}
	if (error < 0 || atomic_load(&request->is_canceled)) {
		result.failure = NET_CANCELED;
	}
	request->callbacks->on_done(request->context, &result);
	net_request_unref(request);
}

static void *net_main(void *context)
{
	pthread_mutex_lock(&lock);
	while (!is_ending || queue != NULL) {
		struct net_request *request = queue;
		if (request == NULL) {
			pthread_cond_wait(&arrived, &lock);
			continue;
		}
		queue = request->next;
		pthread_mutex_unlock(&lock);
		answer(request);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- The callers ---- */

static int on_data(
		void *context, uint64_t offset, const void *data, size_t length)
{
	return memcmp(data, "abcd", length) == 0 ? 0 : -1;
}

static void on_done(void *context, const struct store_outcome *outcome)
{
	atomic_fetch_add(&ended, 1);
}

static void *caller_main(void *context)
{
	static const struct store_callbacks_get callbacks = {on_data, on_done};
	for (unsigned i = 0; i < CALLS; i++) {
		struct store_call *call = NULL;
		atomic_fetch_add(&started, 1);
		if (store_get(store, object, 0, 4, &callbacks, NULL, &call) !=
				0) {
			abort();
		}
		if (i % 3 == 0) {
			store_cancel(call);
		}
		store_call_unref(call);
	}
	return NULL;
}

static void write_keys(unsigned number)
{
	char path[64];
	snprintf(path, sizeof(path), "%s.new", credentials);
	FILE *file = fopen(path, "w");
	if (file == NULL) {
		abort();
	}
	fprintf(file,
			"[default]\naws_access_key_id = %u\n"
			"aws_secret_access_key = s\n",
			number);
	fclose(file);
	if (rename(path, credentials) != 0) {
		abort();
	}
}

static void run_round(unsigned number)
{
	static const struct store_settings settings = {.counters = &counters,
			.endpoint_url = "http://h",
			.path_style = -1};
	pthread_t callers[CALLERS];
	char message[1200];

	write_keys(number * 1000);
	if (store_open("s3://data", &settings, &store, message,
			    sizeof(message)) != 0) {
		fprintf(stderr, "%s\n", message);
		abort();
	}
	object = object_create(store, "k", "\"e\"", 100, 1);
	for (unsigned i = 0; i < CALLERS; i++) {
		pthread_create(&callers[i], NULL, caller_main, NULL);
	}
	for (unsigned i = 1; i < 50; i++) {
		write_keys(number * 1000 + i);
		clock_advance_ms(1001);
	}
	for (unsigned i = 0; i < CALLERS; i++) {
		pthread_join(callers[i], NULL);
	}
	object_unref(object);
	store_destroy(store);
	if (atomic_load(&started) != atomic_load(&ended)) {
		fprintf(stderr, "started %u, ended %u\n", atomic_load(&started),
				atomic_load(&ended));
		abort();
	}
}

int main(void)
{
	pthread_t threads[NET_THREADS];
	const int fd = mkstemp(credentials);

	if (fd < 0 || close(fd) != 0) {
		abort();
	}
	(void)log_open(LOG_SINK_STDERR, LOG_ERROR, NULL);
	clearenv();
	setenv("AWS_SHARED_CREDENTIALS_FILE", credentials, 1);
	setenv("AWS_CONFIG_FILE", "/dev/null", 1);
	for (unsigned i = 0; i < NET_THREADS; i++) {
		pthread_create(&threads[i], NULL, net_main, NULL);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		run_round(i);
	}
	pthread_mutex_lock(&lock);
	is_ending = true;
	pthread_cond_broadcast(&arrived);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < NET_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	(void)unlink(credentials);
	printf("%u calls ended\n", atomic_load(&ended));
	return 0;
}
