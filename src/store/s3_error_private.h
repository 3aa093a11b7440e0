#ifndef STORE_S3_ERROR_PRIVATE_H
#define STORE_S3_ERROR_PRIVATE_H

#include <stddef.h>

#define S3_ERROR_MAX_BODY (64 * 1024)

/* What an error document says; fields that are not there are empty. Nothing
 * else is kept of it: some servers repeat what was signed. */
struct s3_error {
	char code[64];
	char message[256];
	char region[64]; /* Where the bucket is, as it says. */
};

/*
 * Reads as far as the document is well-formed, and no further than
 * S3_ERROR_MAX_BODY: an answer that is no document gives empty fields. Control
 * characters of the message become blanks.
 */
void s3_error_parse(
		const void *data, size_t length, struct s3_error *out_error);

#endif
