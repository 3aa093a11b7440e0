#ifndef STORE_SOURCE_PRIVATE_H
#define STORE_SOURCE_PRIVATE_H

#include <stddef.h>

enum source_kind { SOURCE_S3, SOURCE_FILE };

/* A SOURCE in parts. Nothing is decoded or normalised: "./", "../" and "//"
 * are letters of a prefix like others. */
struct source {
	enum source_kind kind;
	char *bucket;	 /* Of s3. */
	char *prefix;	 /* Of s3: "" or ending in '/'. */
	char *directory; /* Of file. */
};

/* -EINVAL for a bad form, -ENOTSUP for a kind of store that is not there, both
 * with one line in `message` that has no secret of the SOURCE. */
int source_parse(const char *text, struct source *out_source, char *message,
		size_t message_size);
void source_finish(struct source *source);

#endif
