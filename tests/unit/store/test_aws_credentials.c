#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/store/aws_credentials_private.h"
#include "../../../src/store/aws_environment_private.h"
#include "base/clock.h"
#include "store/open.h"

extern char **environ;

static char directory[] = "/tmp/shardfs-aws-XXXXXX";
static char config[64], credentials[64];
static char message[600];
static struct aws_chain *chain;

static void start(void)
{
	clearenv();
	cr_assert_not_null(mkdtemp(directory));
	snprintf(config, sizeof(config), "%s/config", directory);
	snprintf(credentials, sizeof(credentials), "%s/credentials", directory);
	setenv("AWS_CONFIG_FILE", config, 1);
	setenv("AWS_SHARED_CREDENTIALS_FILE", credentials, 1);
}

static void finish(void)
{
	aws_chain_destroy(chain);
	(void)unlink(config);
	(void)unlink(credentials);
	(void)rmdir(directory);
}

TestSuite(aws_credentials, .init = start, .fini = finish);

/* As tools do it: the old file or the new one, never half of either. */
static void replace(const char *path, const char *text)
{
	char temporary[80];
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	FILE *file = fopen(temporary, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	cr_assert_eq(rename(temporary, path), 0);
}

static int create(const char *profile)
{
	const struct aws_chain_settings settings = {.profile = profile};
	message[0] = '\0';
	return aws_chain_create(&settings, &chain, message, sizeof(message));
}

static void expect_keys(const char *id, const char *secret, const char *token)
{
	struct aws_credentials *keys = aws_chain_get(chain);
	cr_expect_str_eq(keys->access_key_id, id);
	cr_expect_str_eq(keys->secret_access_key, secret);
	cr_expect_eq(keys->session_token == NULL, token == NULL);
	if (token != NULL && keys->session_token != NULL) {
		cr_expect_str_eq(keys->session_token, token);
	}
	aws_credentials_unref(keys);
}

#define KEYS(id, secret)                                                       \
	"aws_access_key_id = " id "\naws_secret_access_key = " secret "\n"

Test(aws_credentials, environment_comes_first)
{
	replace(credentials, "[default]\n" KEYS("file", "fs"));
	setenv("AWS_ACCESS_KEY_ID", "env", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "es", 1);
	cr_assert_eq(create(NULL), 0);
	expect_keys("env", "es", NULL);
	aws_chain_destroy(chain);
	setenv("AWS_SESSION_TOKEN", "tok", 1);
	cr_assert_eq(create(NULL), 0);
	expect_keys("env", "es", "tok");
}

Test(aws_credentials, profile_named_by_an_option_goes_before_the_environment)
{
	replace(credentials, "[x]\n" KEYS("file", "fs"));
	setenv("AWS_ACCESS_KEY_ID", "env", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "es", 1);
	cr_assert_eq(create("x"), 0);
	expect_keys("file", "fs", NULL);
}

Test(aws_credentials, profile_named_by_the_environment_does_not)
{
	replace(credentials, "[x]\n" KEYS("file", "fs"));
	setenv("AWS_PROFILE", "x", 1);
	cr_assert_eq(create(NULL), 0);
	expect_keys("file", "fs", NULL);
	aws_chain_destroy(chain);
	setenv("AWS_ACCESS_KEY_ID", "env", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "es", 1);
	cr_assert_eq(create(NULL), 0);
	expect_keys("env", "es", NULL);
}

Test(aws_credentials, credentials_file_goes_before_the_config_file)
{
	replace(config, "[default]\n" KEYS("config",
					"cs") "aws_session_token = t\n");
	cr_assert_eq(create(NULL), 0);
	expect_keys("config", "cs", "t");
	aws_chain_destroy(chain);
	replace(credentials, "[default]\n" KEYS("file", "fs"));
	cr_assert_eq(create(NULL), 0);
	expect_keys("file", "fs", NULL);
}

Test(aws_credentials, without_any_the_message_says_who_was_asked)
{
	cr_assert_eq(create(NULL), -EACCES);
	cr_expect_not_null(strstr(message, "AWS_ACCESS_KEY_ID"), "%s", message);
	cr_expect_not_null(strstr(message, credentials), "%s", message);
	cr_expect_not_null(strstr(message, "not there"), "%s", message);
	cr_expect_not_null(strstr(message, "--anonymous"), "%s", message);
	chain = NULL;
}

Test(aws_credentials, what_is_not_supported_is_said_and_not_passed_over)
{
	setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/t", 1);
	cr_assert_eq(create(NULL), -EACCES);
	cr_expect_not_null(strstr(message, "AWS_WEB_IDENTITY_TOKEN_FILE (not"));
	replace(config, "[default]\nrole_arn = r\n" KEYS("a", "b"));
	cr_assert_eq(create(NULL), -EINVAL);
	cr_expect_not_null(strstr(message, "role_arn"), "%s", message);
	replace(config, "[default]\ncredential_process = p\n");
	cr_assert_eq(create(NULL), -EINVAL);
	cr_expect_not_null(strstr(message, "credential_process"));
	/* The profile's own keys go before it. */
	replace(config, "[default]\ncredential_process = p\n" KEYS("a", "b"));
	cr_assert_eq(create(NULL), 0);
	expect_keys("a", "b", NULL);
}

Test(aws_credentials, half_a_pair_is_an_error_that_names_the_other_half)
{
	setenv("AWS_ACCESS_KEY_ID", "marker-of-the-key", 1);
	cr_assert_eq(create(NULL), -EINVAL);
	cr_expect_not_null(strstr(message, "AWS_SECRET_ACCESS_KEY is not"));
	cr_expect_null(strstr(message, "marker"));
	unsetenv("AWS_ACCESS_KEY_ID");
	replace(credentials, "[default]\naws_secret_access_key = marker\n");
	cr_assert_eq(create(NULL), -EINVAL);
	cr_expect_not_null(strstr(message, "no aws_access_key_id"));
	cr_expect_null(strstr(message, "marker"));
	chain = NULL;
}

Test(aws_credentials, named_profile_must_be_there)
{
	replace(credentials, "[x]\n" KEYS("a", "b"));
	cr_assert_eq(create("nobody"), -EINVAL);
	cr_expect_not_null(strstr(message, "nobody"));
	chain = NULL;
}

Test(aws_credentials, files_that_cannot_be_read_are_an_error)
{
	char other[80];
	setenv("AWS_SHARED_CREDENTIALS_FILE", directory, 1);
	cr_assert_eq(create(NULL), -EISDIR);
	cr_expect_not_null(strstr(message, directory), "%s", message);
	snprintf(other, sizeof(other), "%s/pipe", directory);
	cr_assert_eq(mkfifo(other, 0600), 0);
	setenv("AWS_SHARED_CREDENTIALS_FILE", other, 1);
	cr_assert_eq(create(NULL), -EINVAL);
	(void)unlink(other);
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
	cr_assert_eq(create(NULL), -EACCES);
	chain = NULL;
}

Test(aws_credentials, replaced_file_is_read_again_within_a_second)
{
	replace(credentials, "[default]\n" KEYS("a", "1"));
	cr_assert_eq(create(NULL), 0);
	replace(credentials, "[default]\n" KEYS("b", "2"));
	expect_keys("a", "1", NULL);
	clock_advance_ms(1001);
	expect_keys("b", "2", NULL);
}

Test(aws_credentials, refused_keys_are_looked_for_at_once_and_only_once)
{
	replace(credentials, "[default]\n" KEYS("a", "1"));
	cr_assert_eq(create(NULL), 0);
	struct aws_credentials *used = aws_chain_get(chain);
	cr_expect_not(aws_chain_refresh(chain, used));
	replace(credentials, "[default]\n" KEYS("b", "2"));
	cr_expect(aws_chain_refresh(chain, used));
	expect_keys("b", "2", NULL);
	/* Another request that was sent with the old keys. */
	cr_expect(aws_chain_refresh(chain, used));
	aws_credentials_unref(used);
	used = aws_chain_get(chain);
	cr_expect_not(aws_chain_refresh(chain, used));
	aws_credentials_unref(used);
}

Test(aws_credentials, old_keys_stay_while_the_file_is_gone_or_half_written)
{
	replace(credentials, "[default]\n" KEYS("a", "1"));
	cr_assert_eq(create(NULL), 0);
	(void)unlink(credentials);
	clock_advance_ms(1001);
	expect_keys("a", "1", NULL);
	replace(credentials, "[default]\naws_access_key_id = b\n");
	clock_advance_ms(1001);
	expect_keys("a", "1", NULL);
	replace(credentials, "[default]\n" KEYS("b", "2"));
	clock_advance_ms(1001);
	expect_keys("b", "2", NULL);
}

Test(aws_credentials, keys_of_the_environment_never_change)
{
	setenv("AWS_ACCESS_KEY_ID", "env", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "es", 1);
	cr_assert_eq(create(NULL), 0);
	setenv("AWS_ACCESS_KEY_ID", "other", 1);
	struct aws_credentials *used = aws_chain_get(chain);
	cr_expect_not(aws_chain_refresh(chain, used));
	aws_credentials_unref(used);
}

Test(aws_credentials, key_id_is_printed_in_part)
{
	char text[32];
	struct aws_credentials *keys = aws_credentials_create(
			"x", "AKIAIOSFODNN7EXAMPLE", "s", NULL);
	aws_credentials_print(keys, text, sizeof(text));
	cr_expect_str_eq(text, "AKIA…MPLE");
	aws_credentials_unref(keys);
	keys = aws_credentials_create("x", "short", "s", NULL);
	aws_credentials_print(keys, text, sizeof(text));
	cr_expect_str_eq(text, "…");
	aws_credentials_unref(keys);
}

Test(aws_credentials, environment_is_wiped_and_still_known)
{
	char *entry = strdup("AWS_SECRET_ACCESS_KEY=marker");
	char *twice = strdup("AWS_SECRET_ACCESS_KEY=second");
	char *other = strdup("OTHER=kept");
	char *entries[] = {entry, other, twice, NULL};
	environ = entries;
	store_take_environment();
	cr_expect_null(getenv("AWS_SECRET_ACCESS_KEY"));
	cr_expect_str_eq(entry, "AWS_SECRET_ACCESS_KEY=");
	cr_expect_eq(entry[strlen(entry) + 1], '\0');
	cr_expect_str_eq(twice, "AWS_SECRET_ACCESS_KEY=");
	cr_expect_str_eq(getenv("OTHER"), "kept");
	cr_expect_str_eq(
			aws_environment_get("AWS_SECRET_ACCESS_KEY"), "marker");
	/* A second call keeps what the first one took. */
	store_take_environment();
	cr_expect_str_eq(
			aws_environment_get("AWS_SECRET_ACCESS_KEY"), "marker");
	free(entry);
	free(twice);
	free(other);
}

Test(aws_credentials, empty_variables_are_not_set)
{
	setenv("AWS_REGION", "", 1);
	cr_expect_null(aws_environment_get("AWS_REGION"));
	setenv("AWS_REGION", "r", 1);
	cr_expect_str_eq(aws_environment_get("AWS_REGION"), "r");
}

Test(aws_credentials, home_comes_from_the_password_database_when_unset)
{
	setenv("HOME", "/somewhere", 1);
	char *home = aws_environment_home();
	cr_expect_str_eq(home, "/somewhere");
	free(home);
	unsetenv("HOME");
	home = aws_environment_home();
	cr_assert_not_null(home);
	cr_expect_eq(home[0], '/');
	cr_expect_str_neq(home, "/somewhere");
	free(home);
}

/* The home of `su` without a dash: root's, which the user may not look into. */
Test(aws_credentials, a_home_that_may_not_be_read_is_passed_over)
{
	char aws[80], path[96];

	snprintf(aws, sizeof(aws), "%s/.aws", directory);
	snprintf(path, sizeof(path), "%s/config", aws);
	cr_assert_eq(mkdir(aws, 0700), 0);
	replace(path, "[default]\nregion = eu\n");
	cr_assert_eq(chmod(aws, 0), 0);
	unsetenv("AWS_CONFIG_FILE");
	unsetenv("AWS_SHARED_CREDENTIALS_FILE");
	setenv("HOME", directory, 1);
	if (geteuid() == 0) {
		cr_assert_eq(seteuid(65534), 0);
	}
	cr_expect_eq(create(NULL), -EACCES);
	cr_expect_not_null(strstr(message, "config (may not be read)"));
	setenv("AWS_ACCESS_KEY_ID", "env", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "es", 1);
	cr_expect_eq(create(NULL), 0);
	setenv("AWS_CONFIG_FILE", path, 1);
	aws_chain_destroy(chain);
	chain = NULL;
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	cr_expect_eq(create(NULL), -EACCES);
	cr_expect_not_null(strstr(message, "cannot read"));
	if (getuid() == 0) {
		cr_assert_eq(seteuid(0), 0);
	}
	cr_assert_eq(chmod(aws, 0700), 0);
	(void)unlink(path);
	(void)rmdir(aws);
}
