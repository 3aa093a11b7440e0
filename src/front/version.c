#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdio.h>

#include "front/front.h"

/* Also of a shared libfuse: whether what it was built with has the calls. */
#define CAN_PASS_THROUGH (FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17))

static char text[96];
static pthread_once_t text_once = PTHREAD_ONCE_INIT;

static void make_text(void)
{
	(void)snprintf(text, sizeof(text), "%s (%s, %s)", fuse_pkgversion(),
			FRONT_FUSE_KIND,
			CAN_PASS_THROUGH ? "passthrough capable"
					 : "no passthrough");
}

const char *front_fuse_version(void)
{
	(void)pthread_once(&text_once, make_text); /* Never fails. */
	return text;
}
