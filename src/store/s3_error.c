#include "s3_error_private.h"

#include <stdio.h>
#include <string.h>

#include "s3_xml_private.h"

static int on_start(void *context, unsigned depth, const char *name)
{
	return 0;
}

static void copy(char *to, size_t size, const char *text)
{
	if (to[0] != '\0') {
		return; /* The first one counts. */
	}
	(void)snprintf(to, size, "%s", text); /* Cut is fine. */
	for (char *c = to; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			*c = ' ';
		}
	}
}

/* <Error><Code>; some services wrap it once more. */
static int on_end(void *context, unsigned depth, const char *name,
		const char *text, size_t length)
{
	struct s3_error *error = context;

	if (text == NULL || depth < 2 || depth > 3) {
		return 0;
	}
	if (strcmp(name, "Code") == 0) {
		copy(error->code, sizeof(error->code), text);
	} else if (strcmp(name, "Message") == 0) {
		copy(error->message, sizeof(error->message), text);
	} else if (strcmp(name, "Region") == 0) {
		copy(error->region, sizeof(error->region), text);
	}
	return 0;
}

/* "the region 'us-east-1' is wrong; expecting 'eu-west-1'": not all servers
 * give the region an element of its own. */
static void region_from_message(struct s3_error *error)
{
	static const char mark[] = "expecting '";
	const char *start = strstr(error->message, mark);

	if (error->region[0] != '\0' || start == NULL ||
			strcmp(error->code, "AuthorizationHeaderMalformed") !=
					0) {
		return;
	}
	start += sizeof(mark) - 1;
	const size_t length = strcspn(start, "'");
	if (length < sizeof(error->region) && start[length] == '\'') {
		memcpy(error->region, start, length);
		error->region[length] = '\0';
	}
}

void s3_error_parse(const void *data, size_t length, struct s3_error *out_error)
{
	static const struct s3_xml_handler handler = {
			.on_start = on_start, .on_end = on_end};
	struct s3_xml *xml = NULL;

	*out_error = (struct s3_error){0};
	if (s3_xml_create(&handler, out_error, S3_ERROR_MAX_BODY, &xml) != 0) {
		return;
	}
	/* What was read before a fault holds. */
	(void)s3_xml_feed(xml, data,
			length < S3_ERROR_MAX_BODY ? length
						   : S3_ERROR_MAX_BODY);
	s3_xml_destroy(xml);
	region_from_message(out_error);
}
