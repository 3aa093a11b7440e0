/* The shared config and credentials files. */
#include <string.h>

#include "../../src/store/aws_config_private.h"
#include "fuzz.h"

static void check_text(const char *text)
{
	FUZZ_CHECK(text == NULL || strchr(text, '\n') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"default", "x"};

	for (size_t i = 0; i < 2; i++) {
		struct aws_profile profile = {0};
		FUZZ_CHECK(aws_config_parse((const char *)data, size,
					   AWS_FILE_CONFIG, names[i],
					   &profile) == 0);
		FUZZ_CHECK(aws_config_parse((const char *)data, size,
					   AWS_FILE_CREDENTIALS, names[i],
					   &profile) == 0);
		check_text(profile.access_key_id);
		check_text(profile.secret_access_key);
		check_text(profile.session_token);
		check_text(profile.region);
		check_text(profile.endpoint_url);
		check_text(profile.s3_endpoint_url);
		aws_profile_finish(&profile);
	}
	return 0;
}
