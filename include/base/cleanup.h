#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Scope-bound cleanup. CLEANUP_FREE frees a pointer, CLEANUP_CLOSE closes a
 * descriptor that is not negative, LOCK_SCOPE holds a mutex, each until the
 * enclosing block ends.
 */
static inline void cleanup_free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close_fd(const int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd); /* Read-only or already synced. */
	}
}

static inline void cleanup_unlock(pthread_mutex_t *const *lock)
{
	(void)pthread_mutex_unlock(*lock); /* Fails only on our own bugs. */
}

static inline pthread_mutex_t *cleanup_lock(pthread_mutex_t *lock)
{
	(void)pthread_mutex_lock(lock); /* Fails only on our own bugs. */
	return lock;
}

#define CLEANUP_FREE __attribute__((cleanup(cleanup_free_pointer)))
#define CLEANUP_CLOSE __attribute__((cleanup(cleanup_close_fd)))

#define CLEANUP_JOIN_(a, b) a##b
#define CLEANUP_JOIN(a, b) CLEANUP_JOIN_(a, b)
#define LOCK_SCOPE(lock)                                                       \
	pthread_mutex_t *const CLEANUP_JOIN(lock_scope_, __LINE__)             \
			__attribute__((cleanup(cleanup_unlock), unused)) =     \
					cleanup_lock(lock)

#endif
