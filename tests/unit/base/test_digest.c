#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

static void assert_hex(
		const uint8_t *bytes, size_t length, const char *expected)
{
	char text[2 * 64 + 1];
	digest_hex(bytes, length, text);
	cr_assert_str_eq(text, expected);
}

Test(digest, sha256_gives_the_fips_180_vectors)
{
	uint8_t sum[DIGEST_SHA256_SIZE];
	cr_assert_eq(digest_sha256("abc", 3, sum), 0);
	assert_hex(sum, sizeof(sum),
			"ba7816bf8f01cfea414140de5dae2223"
			"b00361a396177a9cb410ff61f20015ad");
	cr_assert_eq(digest_sha256(NULL, 0, sum), 0);
	assert_hex(sum, sizeof(sum),
			"e3b0c44298fc1c149afbf4c8996fb924"
			"27ae41e4649b934ca495991b7852b855");
}

Test(digest, hmac_sha256_gives_the_rfc_4231_vectors)
{
	uint8_t sum[DIGEST_SHA256_SIZE];
	const char *data = "what do ya want for nothing?";
	cr_assert_eq(digest_hmac_sha256("Jefe", 4, data, strlen(data), sum), 0);
	assert_hex(sum, sizeof(sum),
			"5bdcc146bf60754e6a042426089575c7"
			"5a003f089d2739839dec58b964ec3843");
	uint8_t long_key[131];
	memset(long_key, 0xaa, sizeof(long_key));
	data = "Test Using Larger Than Block-Size Key - Hash Key First";
	cr_assert_eq(digest_hmac_sha256(long_key, sizeof(long_key), data,
				     strlen(data), sum),
			0);
	assert_hex(sum, sizeof(sum),
			"60e431591ee0b67f0d8a26aacbf5b77f"
			"8e0bc6213728c5140546040f0ee37f54");
}

Test(digest, hmac_sha256_takes_an_empty_key_and_empty_data)
{
	uint8_t sum[DIGEST_SHA256_SIZE];
	cr_assert_eq(digest_hmac_sha256(NULL, 0, NULL, 0, sum), 0);
	assert_hex(sum, sizeof(sum),
			"b613679a0814d9ec772f95d778c35fc5"
			"ff1697c493715653c6c712144292c5ad");
}

Test(digest, md5_gives_the_rfc_1321_vector)
{
	uint8_t sum[16];
	cr_assert_eq(digest_md5("message digest", 14, sum), 0);
	assert_hex(sum, sizeof(sum), "f96b697d7cb7938d525a2f31aaf161d0");
}

Test(digest, crc32c_gives_the_rfc_3720_vectors)
{
	uint8_t data[32] = {0};
	cr_assert_eq(digest_crc32c(data, sizeof(data)), 0x8a9136aaU);
	memset(data, 0xff, sizeof(data));
	cr_assert_eq(digest_crc32c(data, sizeof(data)), 0x62a8ab43U);
	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] = (uint8_t)i;
	}
	cr_assert_eq(digest_crc32c(data, sizeof(data)), 0x46dd794eU);
	cr_assert_eq(digest_crc32c("123456789", 9), 0xe3069283U);
	cr_assert_eq(digest_crc32c(NULL, 0), 0U);
}

Test(digest, base64_gives_the_rfc_4648_vectors_both_ways)
{
	static const char *const table[][2] = {
			{"", ""},
			{"f", "Zg=="},
			{"fo", "Zm8="},
			{"foo", "Zm9v"},
			{"foob", "Zm9vYg=="},
			{"fooba", "Zm9vYmE="},
			{"foobar", "Zm9vYmFy"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char *text = digest_base64(table[i][0], strlen(table[i][0]));
		cr_assert_str_eq(text, table[i][1]);
		uint8_t *data = NULL;
		size_t length = 99;
		cr_assert_eq(digest_base64_decode(text, &data, &length), 0);
		cr_assert_eq(length, strlen(table[i][0]));
		cr_assert_eq(memcmp(data, table[i][0], length), 0);
		free(data);
		free(text);
	}
}

Test(digest, base64_decode_refuses_what_is_not_base64)
{
	static const char *const table[] = {"Z", "Zg",
			"Zg=", "Zg===", "====", "=Zg=", "Z===", "Zm9v\n",
			" Zm9v", "Zm9v ", "Zm-_",
			"Zg==Zg==", "Zm9v=", "Zm\x80v"};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint8_t *data = NULL;
		size_t length = 0;
		cr_assert_eq(digest_base64_decode(table[i], &data, &length),
				-EINVAL, "took \"%s\"", table[i]);
	}
}
