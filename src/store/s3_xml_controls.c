#include "s3_xml_controls_private.h"

#include <stdlib.h>
#include <string.h>

/* U+FDD0 + c is EF B7 (90 + c) for c below 32. */
#define LEAD_1 '\xEF'
#define LEAD_2 '\xB7'
#define FIRST_3 0x90
#define FIRST_NONCHAR 0xFDD0ul
#define CONTROL_COUNT 32u

static bool is_control(unsigned long c)
{
	return c < CONTROL_COUNT && c != '\t' && c != '\n' && c != '\r';
}

static size_t put_control(struct s3_xml_controls *controls, unsigned c,
		char out[S3_XML_CONTROLS_GROWTH])
{
	controls->replaced = true;
	out[0] = LEAD_1;
	out[1] = LEAD_2;
	out[2] = (char)(FIRST_3 + c);
	return 3;
}

/* Real noncharacters, as bytes: looked for in everything that goes through. */
static void watch_nonchars(struct s3_xml_controls *controls, char byte)
{
	const unsigned char third = (unsigned char)byte;

	if (controls->nonchar_matched == 2 && third >= FIRST_3 &&
			third < FIRST_3 + CONTROL_COUNT) {
		controls->has_nonchars = true;
	}
	if (controls->nonchar_matched == 1 && byte == LEAD_2) {
		controls->nonchar_matched = 2;
	} else {
		controls->nonchar_matched = byte == LEAD_1;
	}
}

/* "&#x1b;" is text inside CDATA, so its borders are followed. */
static void watch_cdata(struct s3_xml_controls *controls, char byte)
{
	static const char open[] = "<![CDATA[";

	if (controls->in_cdata) {
		if (byte == ']') {
			controls->close_matched += controls->close_matched < 2;
			return;
		}
		controls->in_cdata = byte != '>' || controls->close_matched < 2;
		controls->close_matched = 0;
		return;
	}
	if (byte != open[controls->open_matched]) {
		controls->open_matched = byte == '<';
		return;
	}
	controls->open_matched++;
	if (controls->open_matched == sizeof(open) - 1) {
		controls->open_matched = 0;
		controls->in_cdata = true;
	}
}

static size_t pass(struct s3_xml_controls *controls, char byte,
		char out[S3_XML_CONTROLS_GROWTH])
{
	watch_nonchars(controls, byte);
	watch_cdata(controls, byte);
	if (is_control((unsigned char)byte)) {
		return put_control(controls, (unsigned char)byte, out);
	}
	out[0] = byte;
	return 1;
}

size_t s3_xml_controls_flush(struct s3_xml_controls *controls,
		char out[S3_XML_CONTROLS_GROWTH])
{
	const size_t length = controls->pending_length;

	memcpy(out, controls->pending, length);
	controls->pending_length = 0;
	return length;
}

/* May this byte follow what is pending of "&#27;" or "&#x1B;"? */
static bool continues(const struct s3_xml_controls *controls, char byte)
{
	const size_t length = controls->pending_length;
	const bool hex = length > 2 && controls->pending[2] == 'x';

	if (length == 1) {
		return byte == '#';
	}
	if (length == 2 && byte == 'x') {
		return true;
	}
	return byte != '\0' &&
	       strchr(hex ? "0123456789abcdefABCDEF" : "0123456789", byte) !=
			       NULL;
}

/* The pending reference is whole: "&#" digits, and now ';'. */
static size_t end_reference(struct s3_xml_controls *controls,
		char out[S3_XML_CONTROLS_GROWTH])
{
	const bool hex = controls->pending[2] == 'x';
	const char *digits = controls->pending + (hex ? 3 : 2);

	controls->pending[controls->pending_length] = '\0';
	const unsigned long value = strtoul(digits, NULL, hex ? 16 : 10);
	if (*digits != '\0' && is_control(value)) {
		controls->pending_length = 0;
		return put_control(controls, (unsigned)value, out);
	}
	if (value >= FIRST_NONCHAR && value < FIRST_NONCHAR + CONTROL_COUNT) {
		controls->has_nonchars = true;
	}
	const size_t length = s3_xml_controls_flush(controls, out);

	out[length] = ';';
	return length + 1;
}

size_t s3_xml_controls_take(struct s3_xml_controls *controls, char byte,
		char out[S3_XML_CONTROLS_GROWTH])
{
	size_t length = 0;

	if (controls->pending_length > 2 && byte == ';') {
		return end_reference(controls, out);
	}
	if (controls->pending_length > 0) {
		/* The last place is for the NUL: longer references have
		 * leading zeros, which no server writes. */
		if (continues(controls, byte) &&
				controls->pending_length <
						sizeof(controls->pending) - 1) {
			controls->pending[controls->pending_length++] = byte;
			return 0;
		}
		length = s3_xml_controls_flush(controls, out);
	}
	if (byte == '&' && !controls->in_cdata) {
		controls->pending[0] = byte;
		controls->pending_length = 1;
		return length;
	}
	return length + pass(controls, byte, out + length);
}

bool s3_xml_controls_ambiguous(const struct s3_xml_controls *controls)
{
	return controls->replaced && controls->has_nonchars;
}

size_t s3_xml_controls_restore(const struct s3_xml_controls *controls,
		char *text, size_t length)
{
	size_t to = 0;

	if (!controls->replaced) {
		return length;
	}
	for (size_t from = 0; from < length; from++, to++) {
		text[to] = text[from];
		if (length - from < 3 || text[from] != LEAD_1 ||
				text[from + 1] != LEAD_2) {
			continue;
		}
		const unsigned third = (unsigned char)text[from + 2];
		if (third >= FIRST_3 && third < FIRST_3 + CONTROL_COUNT) {
			text[to] = (char)(third - FIRST_3);
			from += 2;
		}
	}
	text[to] = '\0';
	return to;
}
