#include "main/client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "fetch/fetch.h"
#include "main/env_file.h"
#include "main/options.h"
#include "net/net.h"
#include "store/open.h"
#include "store/store.h"

#define LOOPS_MAX 8

/* As many descriptors as allowed, and no core with secrets in it. None of it
 * is worth failing for. */
static void set_limits(void)
{
	struct rlimit files;
	const struct rlimit no_core = {0, 0};

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)prctl(PR_SET_DUMPABLE, 0);
	/* TLS writes to a closed connection raise it. */
	(void)signal(SIGPIPE, SIG_IGN);
}

static size_t loop_count(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (cores < 1) {
		return 1;
	}
	return cores < LOOPS_MAX ? (size_t)cores : LOOPS_MAX;
}

static int open_net(const struct options *options, struct net **out_net,
		char *message, size_t message_size)
{
	struct net_settings settings;

	net_settings_defaults(&settings);
	settings.loop_count = loop_count();
	settings.max_connections = options->max_connections;
	settings.ca_bundle = options->ca_bundle;
	settings.proxy = options->proxy;
	settings.bind_interface = options->bind_interface;
	int error = net_create(&settings, out_net);

	if (error == -ENOENT) {
		(void)snprintf(message, message_size,
				"ca_bundle %s: cannot be read",
				options->ca_bundle != NULL
						? options->ca_bundle
						: "of AWS_CA_BUNDLE, "
						  "CURL_CA_BUNDLE or "
						  "SSL_CERT_FILE");
	} else if (error != 0) {
		(void)snprintf(message, message_size, "network: %s",
				strerror(-error));
	}
	return error;
}

static int open_store(const char *source, const struct options *options,
		struct counters *counters, struct client *client, char *message,
		size_t message_size)
{
	const struct store_settings settings = {
			.net = client->net,
			.counters = counters,
			.endpoint_url = options->endpoint_url,
			.region = options->region,
			.profile = options->profile,
			.sse_c_key_file = options->sse_c_key_file,
			.anonymous = options->anonymous,
			.path_style = options->path_style,
			.requester_pays = options->requester_pays,
	};

	return store_open(source, &settings, &client->store, message,
			message_size);
}

static int open_fetch(const struct options *options, struct counters *counters,
		struct client *client, char *message, size_t message_size)
{
	const struct fetch_settings settings = {
			.counters = counters,
			.part_size = options->part_size,
			.max_connections = options->max_connections,
			.max_rate = options->max_rate,
			.timeout_ms = options->timeout_ms,
			.retries = (unsigned)options->retries,
	};
	int error = fetch_create(&settings, &client->fetch);

	if (error != 0) {
		(void)snprintf(message, message_size, "transfers: %s",
				strerror(-error));
	}
	return error;
}

static int open_rooms(const char *source, const struct options *options,
		struct counters *counters, struct client *client, char *message,
		size_t message_size)
{
	int error = open_net(options, &client->net, message, message_size);

	if (error == 0) {
		error = open_store(source, options, counters, client, message,
				message_size);
	}
	if (error == 0) {
		error = open_fetch(options, counters, client, message,
				message_size);
	}
	return error;
}

int client_open(const char *source, const struct options *options,
		struct counters *counters, struct client *out_client,
		char *message, size_t message_size)
{
	struct client client = {0};
	int error = 0;

	if (options->env_file != NULL) {
		error = env_file_load(options->env_file, message, message_size);
		if (error != 0) {
			return error == -EINVAL ? -EBADMSG : error;
		}
	}
	store_take_environment();
	set_limits();
	error = open_rooms(source, options, counters, &client, message,
			message_size);
	if (error != 0) {
		client_close(&client);
		return error;
	}
	*out_client = client;
	return 0;
}

#define DETAIL_SIZE 512
#define IDENTITY_LIMIT ((size_t)1024)

enum mount_fault client_explain(const struct client *client, const char *source,
		int error, const char *detail, const char *neighbours,
		char *message, size_t message_size)
{
	char newest[DETAIL_SIZE] = "";
	struct strbuf identity;

	strbuf_init(&identity, IDENTITY_LIMIT);
	if (detail == NULL) {
		fetch_last_failure(client->fetch, newest, sizeof(newest));
		detail = newest;
	}
	(void)store_describe(client->store, &identity); /* Only words. */
	enum mount_fault fault = mount_fault_judge(error, detail);
	const struct mount_fault_facts facts = {
			.source = source,
			.prefix = store_prefix(client->store),
			.detail = detail[0] != '\0' ? detail : strerror(-error),
			.identity = identity.text != NULL ? identity.text : "",
			.neighbours = neighbours,
	};

	mount_fault_text(fault, &facts, message, message_size);
	strbuf_finish(&identity);
	return fault;
}

void client_describe(const struct client *client)
{
	struct strbuf text;

	strbuf_init(&text, IDENTITY_LIMIT);
	if (store_describe(client->store, &text) == 0) {
		(void)fprintf(stderr, "shardfs: %s\n", text.text);
	}
	strbuf_finish(&text);
}

void client_close(struct client *client)
{
	if (client->fetch != NULL) {
		fetch_destroy(client->fetch);
	}
	if (client->store != NULL) {
		store_destroy(client->store);
	}
	if (client->net != NULL) {
		net_destroy(client->net);
	}
	*client = (struct client){0};
}
