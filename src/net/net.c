#include "net/net.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ca_bundle_private.h"
#include "loop_private.h"
#include "request_private.h"

#define MOST_LOOPS 8

struct net {
	struct policy policy;
	size_t loop_count;
	struct loop **loops;
};

void net_settings_defaults(struct net_settings *settings)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t loop_count = cores > 0 ? (size_t)cores : 1;

	*settings = (struct net_settings){
			.loop_count = loop_count < MOST_LOOPS ? loop_count
							      : MOST_LOOPS,
			.max_connections = 64,
			.connect_timeout_ms = 5000,
			.first_byte_timeout_ms = 10000,
			.stall_bytes_per_second = 16384,
			.stall_seconds = 10,
			.idle_seconds = 15,
	};
}

static CURLcode global_code;

static void init_libcurl(void)
{
	global_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int copy_text(const char *text, char **out_copy)
{
	if (text == NULL || text[0] == '\0') {
		return 0;
	}
	char *copy = strdup(text);
	if (copy == NULL) {
		return -ENOMEM;
	}
	*out_copy = copy;
	return 0;
}

static int init_policy(struct policy *policy, const struct net_settings *from)
{
	*policy = (struct policy){
			.connect_timeout_ms = from->connect_timeout_ms,
			.first_byte_timeout_ms = from->first_byte_timeout_ms,
			.stall_bytes_per_second = from->stall_bytes_per_second,
			.stall_seconds = from->stall_seconds,
			.idle_seconds = from->idle_seconds,
	};
	int error = copy_text(from->proxy, &policy->proxy);
	if (error == 0) {
		error = copy_text(
				from->bind_interface, &policy->bind_interface);
	}
	if (error == 0) {
		error = ca_bundle_find(from->ca_bundle, &policy->ca_bundle);
	}
	return error;
}

static int start_loops(struct net *net, const struct net_settings *settings)
{
	net->loops = calloc(settings->loop_count, sizeof(struct loop *));
	if (net->loops == NULL) {
		return -ENOMEM;
	}
	size_t share = (settings->max_connections + settings->loop_count - 1) /
		       settings->loop_count;
	while (net->loop_count < settings->loop_count) {
		int error = loop_create(&net->policy, share,
				&net->loops[net->loop_count]);
		if (error != 0) {
			return error;
		}
		net->loop_count++;
	}
	return 0;
}

int net_create(const struct net_settings *settings, struct net **out_net)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	assert(settings->loop_count > 0);
	assert(settings->max_connections > 0);
	(void)pthread_once(&once, init_libcurl); /* Cannot fail. */
	if (global_code != CURLE_OK) {
		return -EIO;
	}
	struct net *net = calloc(1, sizeof(*net));
	if (net == NULL) {
		return -ENOMEM;
	}
	int error = init_policy(&net->policy, settings);
	if (error == 0) {
		error = start_loops(net, settings);
	}
	if (error != 0) {
		net_destroy(net);
		return error;
	}
	*out_net = net;
	return 0;
}

/* Callbacks of one loop may submit to any: all refuse before the first one
 * cancels its own, and all threads have ended before the first loop is gone. */
void net_destroy(struct net *net)
{
	if (net == NULL) {
		return;
	}
	for (size_t i = 0; i < net->loop_count; i++) {
		loop_begin_stop(net->loops[i]);
	}
	for (size_t i = 0; i < net->loop_count; i++) {
		loop_stop(net->loops[i]);
	}
	for (size_t i = 0; i < net->loop_count; i++) {
		loop_unref(net->loops[i]);
	}
	free(net->loops);
	free(net->policy.ca_bundle);
	free(net->policy.proxy);
	free(net->policy.bind_interface);
	free(net);
}

/* With equal loads the first is taken: one request after the other then finds
 * the connection of the one before. */
static struct loop *least_loaded(const struct net *net)
{
	struct loop *best = net->loops[0];

	for (size_t i = 1; i < net->loop_count; i++) {
		if (loop_load(net->loops[i]) < loop_load(best)) {
			best = net->loops[i];
		}
	}
	return best;
}

int net_submit(struct net *net, const struct net_request_spec *spec,
		struct net_request **out_request)
{
	return loop_submit(least_loaded(net), spec, out_request);
}
