/*
 * Threads submit requests that end in every way, cancel some at random times,
 * and let callbacks submit more, while the net is destroyed under them. Each
 * on_done must come exactly once. Run it under TSan.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http_server.h"
#include "net/net.h"

#define ROUNDS 4
#define THREADS 4
#define REQUESTS 100 /* Of each thread in a round. */

static struct net *net;
static struct server *server;
static atomic_size_t submitted;
static atomic_size_t done;
static atomic_bool wrong;

static const char *const paths[] = {"/ok/100000", "/ok/1", "/chunked/5000",
		"/trickle/50", "/cut/100000", "/short/1000", "/stall/5000",
		"/silent", "/reset", "/nothing", "/bye", "/once/10",
		"/fields/300", "/garbage"};

struct job {
	atomic_size_t done_count;
	size_t body_length;
	unsigned depth; /* Requests that on_done submits after it. */
};

static int on_body(void *context, const void *data, size_t length)
{
	struct job *job = context;
	if (*(const unsigned char *)data != server_byte(job->body_length)) {
		atomic_store(&wrong, true);
	}
	job->body_length += length;
	return job->body_length > 90000 ? -1 : 0;
}

static void on_done(void *context, const struct net_result *result);

static int submit(struct job *job, const char *path, struct net_request **out)
{
	static const struct net_callbacks callbacks = {
			.on_body = on_body, .on_done = on_done};
	char url[100];
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s",
			(unsigned)server_port(server), path);
	const struct net_request_spec spec = {
			.url = url,
			.total_timeout_ms = 300,
			.callbacks = &callbacks,
			.context = job,
	};
	int error = net_submit(net, &spec, out);
	if (error == 0) {
		atomic_fetch_add(&submitted, 1);
	}
	return error;
}

static void on_done(void *context, const struct net_result *result)
{
	struct job *job = context;
	atomic_fetch_add(&done, 1);
	if (result->body_bytes != job->body_length) {
		atomic_store(&wrong, true);
	}
	job->body_length = 0;
	if (job->depth > 0) {
		job->depth--;
		if (submit(job, "/ok/2000", NULL) == 0) {
			return;
		}
	}
	free(job);
}

static void *submit_many(void *context)
{
	unsigned seed = (unsigned)(size_t)context;

	for (size_t i = 0; i < REQUESTS; i++) {
		struct job *job = calloc(1, sizeof(*job));
		unsigned choice = (unsigned)rand_r(&seed);
		size_t path = choice % (sizeof(paths) / sizeof(paths[0]));
		struct net_request *request = NULL;
		job->depth = choice / 100 % 3;
		if (submit(job, paths[path], &request) != 0) {
			free(job);
			continue;
		}
		if (choice / 1000 % 3 == 0) {
			(void)usleep(choice % 3000);
			net_cancel(request);
		}
		net_request_unref(request);
	}
	return NULL;
}

static void run_round(size_t round)
{
	struct net_settings settings;
	pthread_t threads[THREADS];
	net_settings_defaults(&settings);
	settings.loop_count = 3;
	settings.max_connections = 16;
	if (net_create(&settings, &net) != 0) {
		abort();
	}
	for (size_t i = 0; i < THREADS; i++) {
		(void)pthread_create(&threads[i], NULL, submit_many,
				(void *)(round * THREADS + i + 1));
	}
	for (size_t i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	if (round % 2 == 0) {
		(void)usleep(300000);
	}
	net_destroy(net);
}

int main(void)
{
	server = server_start();
	for (size_t round = 0; round < ROUNDS; round++) {
		run_round(round);
	}
	server_stop(server);
	size_t ended = atomic_load(&done);
	printf("stress_net: %zu submitted, %zu done\n", atomic_load(&submitted),
			ended);
	return ended == atomic_load(&submitted) && !atomic_load(&wrong) ? 0 : 1;
}
