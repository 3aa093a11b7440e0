#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/ca_bundle_private.h"

static char file[] = "/tmp/test_ca_bundle_XXXXXX";
static char other[] = "/tmp/test_ca_bundle_XXXXXX";

static void init(void)
{
	unsetenv("AWS_CA_BUNDLE");
	unsetenv("CURL_CA_BUNDLE");
	unsetenv("SSL_CERT_FILE");
	close(mkstemp(file));
	close(mkstemp(other));
}

static void finish(void)
{
	unlink(file);
	unlink(other);
}

TestSuite(ca_bundle, .init = init, .fini = finish);

static void assert_found(const char *option, const char *expected)
{
	char *path = NULL;
	cr_assert_eq(ca_bundle_find(option, &path), 0);
	cr_assert_str_eq(path, expected);
	free(path);
}

Test(ca_bundle, the_option_goes_before_the_environment)
{
	setenv("CURL_CA_BUNDLE", other, 1);
	assert_found(file, file);
}

Test(ca_bundle, the_environment_goes_before_the_system)
{
	setenv("SSL_CERT_FILE", file, 1);
	assert_found(NULL, file);
	setenv("CURL_CA_BUNDLE", other, 1);
	assert_found(NULL, other);
	setenv("CURL_CA_BUNDLE", "", 1);
	assert_found(NULL, file);
	setenv("AWS_CA_BUNDLE", other, 1);
	assert_found(NULL, other);
}

Test(ca_bundle, a_named_file_that_cannot_be_read_is_an_error)
{
	char *path = file;
	cr_assert_eq(ca_bundle_find("/nowhere.pem", &path), -ENOENT);
	setenv("SSL_CERT_FILE", "/nowhere.pem", 1);
	cr_assert_eq(ca_bundle_find(NULL, &path), -ENOENT);
	cr_assert_eq(path, file);
}

Test(ca_bundle, without_a_name_it_is_libcurls_or_readable)
{
	char *path = file;
	cr_assert_eq(ca_bundle_find(NULL, &path), 0);
	cr_assert(path == NULL || access(path, R_OK) == 0);
	free(path);
}
