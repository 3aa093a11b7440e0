#ifndef STORE_S3_XML_CONTROLS_PRIVATE_H
#define STORE_S3_XML_CONTROLS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Carries control characters through an XML 1.0 parser: before the parser each
 * one becomes one of the 32 noncharacters U+FDD0 to U+FDEF, after it the
 * noncharacter becomes the control character again. A document that has both
 * control and real noncharacters cannot be told apart and is refused.
 */
struct s3_xml_controls {
	char pending[12]; /* Of a character reference that is not over. */
	size_t pending_length;
	unsigned open_matched;	/* Of "<![CDATA[". */
	unsigned close_matched; /* Of "]]>". */
	unsigned nonchar_matched;
	bool in_cdata;
	bool replaced;	   /* A control character was seen. */
	bool has_nonchars; /* So was a real noncharacter. */
};

/* What one byte can become at most. */
#define S3_XML_CONTROLS_GROWTH 16

/* Takes one byte and writes what the parser may have to `out`. */
size_t s3_xml_controls_take(struct s3_xml_controls *controls, char byte,
		char out[S3_XML_CONTROLS_GROWTH]);
/* What is left at the end of the document. */
size_t s3_xml_controls_flush(struct s3_xml_controls *controls,
		char out[S3_XML_CONTROLS_GROWTH]);
bool s3_xml_controls_ambiguous(const struct s3_xml_controls *controls);
/* Turns a text of the parser back, in place; returns its new length. */
size_t s3_xml_controls_restore(const struct s3_xml_controls *controls,
		char *text, size_t length);

#endif
