#ifndef STORE_S3_XML_PRIVATE_H
#define STORE_S3_XML_PRIVATE_H

#include <stddef.h>

/*
 * A bounded reader of the XML that S3 servers send, fed as bytes arrive: expat
 * with limits on depth, text and size. Any DOCTYPE is an error, so there are
 * no entities to expand or to load.
 *
 * Keys may hold control characters, which XML 1.0 cannot write; servers send
 * them all the same, raw or as "&#x1b;". They are taken for what was meant.
 */
struct s3_xml;

/* Both may refuse with a negative errno, which s3_xml_feed then returns. The
 * root has depth 1; names are without namespace prefix. */
struct s3_xml_handler {
	int (*on_start)(void *context, unsigned depth, const char *name);
	/* `text` is NULL for an element that had child elements. */
	int (*on_end)(void *context, unsigned depth, const char *name,
			const char *text, size_t length);
};

#define S3_XML_MAX_DEPTH 16
#define S3_XML_MAX_TEXT (16 * 1024)

int s3_xml_create(const struct s3_xml_handler *handler, void *context,
		size_t size_limit, struct s3_xml **out_xml);
void s3_xml_destroy(struct s3_xml *xml);

/* -EBADMSG: not well-formed, or beyond a limit. An error stays. */
int s3_xml_feed(struct s3_xml *xml, const void *data, size_t length);
/* -EBADMSG when the document is not whole. */
int s3_xml_finish(struct s3_xml *xml);

#endif
