#ifndef STORE_S3_ADDRESS_PRIVATE_H
#define STORE_S3_ADDRESS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where a bucket answers: a pure function of endpoint, bucket, region and
 * style. The URL of a key is scheme, "://", host, path, and the encoded key;
 * path and key together are also what is signed.
 */
struct s3_address {
	char *scheme;
	char *host; /* As in the Host header: a default port is left out. */
	char *path; /* Encoded, begins and ends with '/'. */
	bool path_style;
	bool is_aws; /* The host depends on the region. */
};

struct s3_place {
	const char *endpoint; /* NULL: Amazon's own. */
	const char *bucket;
	const char *region;
	int path_style; /* -1: by itself, 0: virtual host, 1: path. */
};

/*
 * -EINVAL with one line in `message`: the endpoint is no http(s) URL or has a
 * query, or the bucket cannot be part of a host name and path_style is 0.
 */
int s3_address_make(const struct s3_place *place,
		struct s3_address *out_address, char *message,
		size_t message_size);
void s3_address_finish(struct s3_address *address);

/* Letters, digits, '.', '-', '_' and ':', at most 255; begins with a letter or
 * digit; not an ARN. */
bool s3_bucket_is_valid(const char *bucket);
/* Letters, digits, '-', '_' and '.', at most 63: other stores have regions like
 * "RegionOne". Amazon's own are refused elsewhere if they do not fit into a
 * host name, which matters for one that came with an answer. */
bool s3_region_is_valid(const char *region);

/* "https://s3.amazonaws.com/bucket", "http://127.0.0.1:9000/base/bucket": does
 * not depend on region or style. NULL without memory or for a bad endpoint. */
char *s3_address_name(const struct s3_place *place);

/* The host is this machine: plain http to it is not seen by others. */
bool s3_address_is_loopback(const struct s3_address *address);

#endif
