#include "base/digest.h"

#include <errno.h>
#include <isa-l.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

static int digest(const EVP_MD *kind, const void *data, size_t length,
		uint8_t *out)
{
	if (EVP_Digest(data, length, out, NULL, kind, NULL) != 1) {
		return -EIO;
	}
	return 0;
}

int digest_sha256(const void *data, size_t length,
		uint8_t out[DIGEST_SHA256_SIZE])
{
	return digest(EVP_sha256(), data, length, out);
}

int digest_md5(const void *data, size_t length, uint8_t out[16])
{
	return digest(EVP_md5(), data, length, out);
}

static int hmac_with(EVP_MAC_CTX *context, const void *key, size_t key_length,
		const void *data, size_t length, uint8_t *out)
{
	char name[] = "SHA256";
	const OSSL_PARAM parameters[] = {
			OSSL_PARAM_utf8_string("digest", name, 0),
			OSSL_PARAM_END,
	};
	/* OpenSSL takes a NULL key for "keep the last one". */
	const void *given = key != NULL ? key : "";
	size_t written = 0;
	if (EVP_MAC_init(context, given, key_length, parameters) != 1 ||
			EVP_MAC_update(context, data, length) != 1 ||
			EVP_MAC_final(context, out, &written,
					DIGEST_SHA256_SIZE) != 1 ||
			written != DIGEST_SHA256_SIZE) {
		return -EIO;
	}
	return 0;
}

int digest_hmac_sha256(const void *key, size_t key_length, const void *data,
		size_t length, uint8_t out[DIGEST_SHA256_SIZE])
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	if (mac == NULL) {
		return -EIO;
	}
	int error = -EIO;
	EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
	if (context != NULL) {
		error = hmac_with(context, key, key_length, data, length, out);
	}
	EVP_MAC_CTX_free(context);
	EVP_MAC_free(mac);
	return error;
}

void digest_hex(const uint8_t *bytes, size_t length, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * length] = '\0';
}

char *digest_base64(const void *data, size_t length)
{
	if (length > INT_MAX / 2) {
		return NULL;
	}
	char *text = malloc((length + 2) / 3 * 4 + 1);
	if (text == NULL) {
		return NULL;
	}
	(void)EVP_EncodeBlock((unsigned char *)text, data, (int)length);
	return text;
}

/* EVP_DecodeBlock trims blanks and takes '=' anywhere, so what is base64 is
 * decided here: groups of four, padding only at the end. */
static int base64_padding(const char *text, size_t length, size_t *out_padding)
{
	static const char alphabet[] =
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			"0123456789+/";

	if (length % 4 != 0 || length > INT_MAX / 2) {
		return -EINVAL;
	}
	size_t digits = strspn(text, alphabet);
	size_t padding = length - digits;
	if (padding > 2 || strspn(text + digits, "=") != padding) {
		return -EINVAL;
	}
	*out_padding = padding;
	return 0;
}

int digest_base64_decode(
		const char *text, uint8_t **out_data, size_t *out_length)
{
	size_t length = strlen(text);
	size_t padding = 0;
	int error = base64_padding(text, length, &padding);
	if (error != 0) {
		return error;
	}
	uint8_t *data = malloc(length / 4 * 3 + 1);
	if (data == NULL) {
		return -ENOMEM;
	}
	int decoded = 0;
	if (length > 0) {
		decoded = EVP_DecodeBlock(
				data, (const unsigned char *)text, (int)length);
	}
	if (decoded < 0) {
		free(data);
		return -EINVAL;
	}
	*out_data = data;
	*out_length = (size_t)decoded - padding;
	return 0;
}

/* ISA-L's routine neither inverts what it is given nor what it returns. Its
 * length is an int and its data are not const. */
uint32_t digest_crc32c(const void *data, size_t length)
{
	unsigned char *bytes = (unsigned char *)(uintptr_t)data;
	unsigned int sum = ~0U;

	while (length > 0) {
		size_t part = length < INT_MAX ? length : INT_MAX;
		sum = crc32_iscsi(bytes, (int)part, sum);
		bytes += part;
		length -= part;
	}
	return ~sum;
}
