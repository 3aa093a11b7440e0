#include "main/one_line.h"

#include <string.h>

void one_line(char *text)
{
	for (char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			*c = '?';
		}
	}
}

void one_line_hide_users(char *text)
{
	char *scheme = strstr(text, "://");

	while (scheme != NULL) {
		char *user = scheme + strlen("://");
		size_t length = strcspn(user, "/?#@");

		if (user[length] == '@') {
			memset(user, '*', length);
		}
		scheme = strstr(user, "://");
	}
}
