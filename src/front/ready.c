#include "ready_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/workers.h"
#include "front_private.h"

#define LOG_MODULE "front"

static void *run(void *context)
{
	struct front *front = ((struct ready *)context)->front;
	struct stat status;

	if (stat(front->settings.mountpoint, &status) == 0) {
		housekeeper_note_ready(&front->housekeeper);
	} else {
		log_warn("the mount does not answer error=%s", strerror(errno));
	}
	return NULL;
}

int ready_start(struct ready *ready, struct front *front)
{
	ready->front = front;
	int error = workers_start_thread(
			"front-ready", run, ready, &ready->thread);

	ready->running = error == 0;
	return error;
}

void ready_join(struct ready *ready)
{
	if (ready->running) {
		(void)pthread_join(ready->thread, NULL);
		ready->running = false;
	}
}
