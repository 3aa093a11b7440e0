#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws_credentials_private.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "s3_private.h"

#define LOG_MODULE "store"
/* A bucket is in one region: more corrections than this are no corrections. */
#define MAX_REGION_CHANGES 4

static struct s3_place place_of(
		const struct s3_store *store, const char *region)
{
	return (struct s3_place){
			.endpoint = store->endpoint,
			.bucket = store->bucket,
			.region = region,
			.path_style = store->path_style,
	};
}

/* ---- Repairs ---- */

static bool set_region_locked(struct s3_store *store, const char *region)
{
	const struct s3_place place = place_of(store, region);
	struct s3_address address;
	char ignored[1];

	if (store->region_changes == MAX_REGION_CHANGES ||
			s3_address_make(&place, &address, ignored,
					sizeof(ignored)) != 0) {
		return false;
	}
	s3_address_finish(&store->address);
	store->address = address;
	store->region_changes++;
	(void)snprintf(store->region, sizeof(store->region), "%s", region);
	return true;
}

static bool repair_region(struct s3_store *store, const struct s3_sent *sent,
		const char *region)
{
	bool changed = false;

	{
		LOCK_SCOPE(&store->lock);
		if (strcmp(store->region, sent->region) != 0) {
			return true; /* Another call was told before. */
		}
		changed = set_region_locked(store, region);
	}
	if (changed) {
		log_info("using the region the store named: bucket=%s "
			 "region=%s instead of=%s",
				store->bucket, region, sent->region);
	}
	return changed;
}

static bool repair_clock(struct s3_store *store, int64_t server_time)
{
	const int64_t ahead = server_time - (int64_t)(clock_wall_ms() / 1000);

	{
		LOCK_SCOPE(&store->lock);
		store->clock_ahead = ahead;
	}
	log_warn("the clock of this machine is wrong: signing with the "
		 "store's, ahead_seconds=%lld",
			(long long)ahead);
	return true;
}

bool s3_store_repair(struct s3_store *store, const struct s3_sent *sent,
		const struct aws_credentials *used,
		const struct s3_remedy *remedy)
{
	switch (remedy->repair) {
	case STORE_REPAIR_REGION:
		return repair_region(store, sent, remedy->region);
	case STORE_REPAIR_CLOCK:
		return repair_clock(store, remedy->server_time);
	case STORE_REPAIR_CREDENTIALS:
		return used != NULL &&
		       aws_chain_refresh(store->credentials, used);
	case STORE_REPAIR_ETAG: /* The call does that itself. */
	case STORE_REPAIR_NONE:
		break;
	}
	return false;
}

/* ---- For people ---- */

static int s3_url(
		const struct store *store, const char *key, struct strbuf *out)
{
	return strbuf_printf(
			out, "s3://%s/%s", s3_store_of(store)->bucket, key);
}

static void describe_signer(struct s3_store *store, struct strbuf *out)
{
	char id[32];

	if (store->credentials == NULL) {
		(void)strbuf_add_text(out, " anonymous");
		return;
	}
	struct aws_credentials *keys = aws_chain_get(store->credentials);

	aws_credentials_print(keys, id, sizeof(id));
	(void)strbuf_printf(out, " signed by %s (%s)", keys->source, id);
	aws_credentials_unref(keys);
}

static int s3_describe(const struct store *base, struct strbuf *out)
{
	struct s3_store *store = s3_store_of(base);

	{
		LOCK_SCOPE(&store->lock);
		(void)strbuf_printf(out, "s3 bucket=%s endpoint=%s://%s",
				store->bucket, store->address.scheme,
				store->address.host);
		(void)strbuf_printf(out, " region=%s %s", store->region,
				store->address.path_style ? "path-style"
							  : "virtual-host");
	}
	describe_signer(store, out);
	return out->failed ? -ENOMEM : 0;
}

/* ---- Making and ending ---- */

static void s3_destroy(struct store *base)
{
	struct s3_store *store = s3_store_of(base);

	s3_call_end_all(store);
	aws_chain_destroy(store->credentials);
	s3_sse_key_finish(&store->sse_key);
	s3_address_finish(&store->address);
	(void)pthread_cond_destroy(&store->idle);  /* Nobody waits. */
	(void)pthread_mutex_destroy(&store->lock); /* Nobody holds it. */
	free(store->bucket);
	free(store->endpoint);
	free(store->store.name);
	free(store->store.prefix);
	free(store);
}

static const struct store_ops ops = {
		.stat = s3_stat,
		.list = s3_list_page,
		.get = s3_get,
		.url = s3_url,
		.describe = s3_describe,
		.destroy = s3_destroy,
};

static int read_sse_key(struct s3_store *store, const char *path, char *message,
		size_t size)
{
	if (path == NULL) {
		return 0;
	}
	/* The key goes with every request. */
	if (strcmp(store->address.scheme, "https") != 0 &&
			!s3_address_is_loopback(&store->address)) {
		(void)snprintf(message, size,
				"sse_c_key_file needs an https:// endpoint");
		return -EINVAL;
	}
	return s3_sse_key_read(path, &store->sse_key, message, size);
}

static int copy_options(
		struct s3_store *store, const struct s3_options *options)
{
	const struct s3_place place = place_of(store, options->region);

	store->store.prefix = strdup(options->prefix);
	store->store.name = s3_address_name(&place);
	if (store->store.prefix == NULL || store->store.name == NULL) {
		return -ENOMEM;
	}
	(void)snprintf(store->region, sizeof(store->region), "%s",
			options->region);
	return 0;
}

static struct s3_store *allocate(const struct s3_options *options)
{
	struct s3_store *store = calloc(1, sizeof(*store));

	if (store == NULL) {
		return NULL;
	}
	store->store.ops = &ops;
	store->net = options->net;
	store->counters = options->counters;
	store->path_style = options->path_style;
	store->requester_pays = options->requester_pays;
	(void)pthread_mutex_init(&store->lock, NULL); /* Cannot fail. */
	(void)pthread_cond_init(&store->idle, NULL);  /* Likewise. */
	store->bucket = strdup(options->bucket);
	if (options->endpoint != NULL) {
		store->endpoint = strdup(options->endpoint);
	}
	if (store->bucket == NULL || (options->endpoint != NULL &&
						     store->endpoint == NULL)) {
		s3_destroy(&store->store);
		return NULL;
	}
	return store;
}

int s3_store_create(const struct s3_options *options, struct store **out_store,
		char *message, size_t message_size)
{
	struct s3_store *store = allocate(options);

	if (store == NULL) {
		return -ENOMEM;
	}
	const struct s3_place place = place_of(store, options->region);
	int error = s3_address_make(
			&place, &store->address, message, message_size);

	error = error != 0 ? error : copy_options(store, options);
	error = error != 0 ? error
			   : read_sse_key(store, options->sse_c_key_file,
					     message, message_size);
	if (error != 0) {
		s3_destroy(&store->store);
		return error;
	}
	store->credentials = options->credentials;
	*out_store = &store->store;
	return 0;
}
