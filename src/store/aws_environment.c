#include "aws_environment_private.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/open.h"

extern char **environ;

/* Taken once, before there are threads; read only afterwards. */
static struct {
	const char *name;
	char *value;
} secrets[] = {
		{.name = "AWS_ACCESS_KEY_ID"},
		{.name = "AWS_SECRET_ACCESS_KEY"},
		{.name = "AWS_SESSION_TOKEN"},
		{.name = "AWS_SECURITY_TOKEN"},
		{.name = "AWS_CONTAINER_AUTHORIZATION_TOKEN"},
};
#define SECRET_COUNT (sizeof(secrets) / sizeof(secrets[0]))

/* The value in an entry "NAME=value", NULL for another name. */
static char *value_in_entry(char *entry, const char *name)
{
	const size_t length = strlen(name);

	if (strncmp(entry, name, length) != 0 || entry[length] != '=') {
		return NULL;
	}
	return entry + length + 1;
}

/* /proc/PID/environ shows the bytes themselves, also after unsetenv(), and a
 * name may be there twice. */
static void wipe(const char *name)
{
	for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
		char *value = value_in_entry(*entry, name);
		if (value != NULL) {
			explicit_bzero(value, strlen(value));
		}
	}
	(void)unsetenv(name); /* Fails only for a name with '='. */
}

void store_take_environment(void)
{
	for (size_t i = 0; i < SECRET_COUNT; i++) {
		const char *value = getenv(secrets[i].name);
		if (value == NULL) {
			continue;
		}
		char *copy = strdup(value);
		if (copy == NULL) {
			continue; /* It stays where it is, and is found. */
		}
		free(secrets[i].value);
		secrets[i].value = copy;
		wipe(secrets[i].name);
	}
}

static const char *find_taken(const char *name)
{
	for (size_t i = 0; i < SECRET_COUNT; i++) {
		if (strcmp(secrets[i].name, name) == 0) {
			return secrets[i].value;
		}
	}
	return NULL;
}

const char *aws_environment_get(const char *name)
{
	const char *value = find_taken(name);

	if (value == NULL) {
		value = getenv(name);
	}
	return value != NULL && value[0] != '\0' ? value : NULL;
}

char *aws_environment_home(void)
{
	const char *home = getenv("HOME");
	char buffer[4096];
	struct passwd entry;
	struct passwd *found = NULL;

	if (home != NULL && home[0] == '/') {
		return strdup(home);
	}
	/* mount(8) starts its helpers without HOME. */
	if (getpwuid_r(getuid(), &entry, buffer, sizeof(buffer), &found) != 0 ||
			found == NULL) {
		return NULL;
	}
	return strdup(entry.pw_dir);
}
