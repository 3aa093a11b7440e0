#include "s3_xml_private.h"

#include <errno.h>
#include <expat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "s3_xml_controls_private.h"

#define PIECE 4096

struct s3_xml {
	/* Set at creation: */
	const struct s3_xml_handler *handler;
	void *context;
	size_t size_limit;
	XML_Parser parser;
	/* The thread that feeds: */
	struct s3_xml_controls controls;
	struct strbuf text; /* Since the last tag. */
	unsigned depth;
	bool is_leaf; /* The last tag was a start tag. */
	size_t size;
	int error;
};

static void fail(struct s3_xml *xml, int error)
{
	if (xml->error == 0) {
		xml->error = error;
	}
	(void)XML_StopParser(xml->parser, XML_FALSE); /* If it still runs. */
}

static const char *local_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon != NULL ? colon + 1 : name;
}

static void on_start(void *context, const XML_Char *name,
		const XML_Char **attributes)
{
	struct s3_xml *xml = context;

	if (xml->error != 0) {
		return;
	}
	if (xml->depth == S3_XML_MAX_DEPTH) {
		fail(xml, -EBADMSG);
		return;
	}
	xml->depth++;
	xml->is_leaf = true;
	strbuf_clear(&xml->text);
	const int error = xml->handler->on_start(
			xml->context, xml->depth, local_name(name));
	if (error != 0) {
		fail(xml, error);
	}
}

static int give_end(struct s3_xml *xml, const char *name)
{
	char *text = NULL;
	size_t length = 0;

	if (xml->is_leaf) {
		/* So that there is a text, if only an empty one. */
		if (strbuf_add(&xml->text, "", 0) != 0) {
			return -ENOMEM;
		}
		text = xml->text.text;
		length = s3_xml_controls_restore(
				&xml->controls, text, xml->text.length);
	}
	return xml->handler->on_end(
			xml->context, xml->depth, name, text, length);
}

static void on_end(void *context, const XML_Char *name)
{
	struct s3_xml *xml = context;

	if (xml->error != 0) {
		return;
	}
	const int error = give_end(xml, local_name(name));
	if (error != 0) {
		fail(xml, error);
		return;
	}
	xml->is_leaf = false;
	xml->depth--;
	strbuf_clear(&xml->text);
}

static void on_text(void *context, const XML_Char *text, int length)
{
	struct s3_xml *xml = context;

	if (xml->error != 0 || !xml->is_leaf) {
		return;
	}
	const int error = strbuf_add(&xml->text, text, (size_t)length);
	if (error != 0) {
		fail(xml, error == -ENOMEM ? -ENOMEM : -EBADMSG);
	}
}

static void on_doctype(void *context, const XML_Char *name,
		const XML_Char *system_id, const XML_Char *public_id,
		int has_internal_subset)
{
	fail(context, -EBADMSG);
}

int s3_xml_create(const struct s3_xml_handler *handler, void *context,
		size_t size_limit, struct s3_xml **out_xml)
{
	struct s3_xml *xml = calloc(1, sizeof(*xml));

	if (xml == NULL) {
		return -ENOMEM;
	}
	xml->handler = handler;
	xml->context = context;
	xml->size_limit = size_limit;
	strbuf_init(&xml->text, S3_XML_MAX_TEXT);
	xml->parser = XML_ParserCreate("UTF-8");
	if (xml->parser == NULL) {
		s3_xml_destroy(xml);
		return -ENOMEM;
	}
	XML_SetUserData(xml->parser, xml);
	XML_SetElementHandler(xml->parser, on_start, on_end);
	XML_SetCharacterDataHandler(xml->parser, on_text);
	XML_SetStartDoctypeDeclHandler(xml->parser, on_doctype);
	*out_xml = xml;
	return 0;
}

void s3_xml_destroy(struct s3_xml *xml)
{
	if (xml == NULL) {
		return;
	}
	if (xml->parser != NULL) {
		XML_ParserFree(xml->parser);
	}
	strbuf_finish(&xml->text);
	free(xml);
}

static int parse(struct s3_xml *xml, const char *data, size_t length,
		bool is_last)
{
	if (xml->error != 0) {
		return xml->error;
	}
	if (XML_Parse(xml->parser, data, (int)length, is_last) !=
			XML_STATUS_OK) {
		const bool no_memory = XML_GetErrorCode(xml->parser) ==
				       XML_ERROR_NO_MEMORY;
		fail(xml, no_memory ? -ENOMEM : -EBADMSG);
	}
	if (s3_xml_controls_ambiguous(&xml->controls)) {
		fail(xml, -EBADMSG);
	}
	return xml->error;
}

int s3_xml_feed(struct s3_xml *xml, const void *data, size_t length)
{
	const char *bytes = data;
	char piece[PIECE];
	size_t filled = 0;

	if (length > xml->size_limit - xml->size) {
		fail(xml, -EBADMSG);
		return xml->error;
	}
	xml->size += length;
	for (size_t i = 0; i < length; i++) {
		filled += s3_xml_controls_take(
				&xml->controls, bytes[i], piece + filled);
		if (sizeof(piece) - filled < S3_XML_CONTROLS_GROWTH) {
			if (parse(xml, piece, filled, false) != 0) {
				return xml->error;
			}
			filled = 0;
		}
	}
	return parse(xml, piece, filled, false);
}

int s3_xml_finish(struct s3_xml *xml)
{
	char rest[S3_XML_CONTROLS_GROWTH];
	const size_t length = s3_xml_controls_flush(&xml->controls, rest);

	return parse(xml, rest, length, true);
}
