#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_SHA256_SIZE 32
#define DIGEST_SHA256_HEX_SIZE 65 /* With the NUL. */

/* OpenSSL behind it; 0 or -EIO when OpenSSL fails. Any thread. */
int digest_sha256(const void *data, size_t length,
		uint8_t out[DIGEST_SHA256_SIZE]);
int digest_hmac_sha256(const void *key, size_t key_length, const void *data,
		size_t length, uint8_t out[DIGEST_SHA256_SIZE]);
int digest_md5(const void *data, size_t length, uint8_t out[16]);

/* Lower-case; `out` has room for 2 * length + 1. */
void digest_hex(const uint8_t *bytes, size_t length, char *out);

/* Base64 with padding; the caller frees. NULL without memory. */
char *digest_base64(const void *data, size_t length);
/* -EINVAL for text that is not base64; the caller frees *out_data. */
int digest_base64_decode(
		const char *text, uint8_t **out_data, size_t *out_length);

/* CRC-32C (Castagnoli, RFC 3720 appendix B.4) as in iSCSI, through ISA-L. */
uint32_t digest_crc32c(const void *data, size_t length);

#endif
