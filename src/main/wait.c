#include "main/wait.h"

#include "base/cleanup.h"

void wait_init(struct wait *wait)
{
	*wait = (struct wait){
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.changed = PTHREAD_COND_INITIALIZER,
	};
}

void wait_finish(struct wait *wait)
{
	(void)pthread_cond_destroy(&wait->changed);
	(void)pthread_mutex_destroy(&wait->lock);
}

void wait_end(struct wait *wait, int error)
{
	LOCK_SCOPE(&wait->lock);
	wait->done = true;
	wait->error = error;
	(void)pthread_cond_signal(&wait->changed);
}

int wait_for(struct wait *wait)
{
	LOCK_SCOPE(&wait->lock);
	while (!wait->done) {
		(void)pthread_cond_wait(&wait->changed, &wait->lock);
	}
	return wait->error;
}
