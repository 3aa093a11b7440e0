#include "sockets_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_CAPACITY 16

int sockets_init(struct sockets *sockets, int wake_fd)
{
	*sockets = (struct sockets){0};
	sockets->waits = calloc(FIRST_CAPACITY, sizeof(*sockets->waits));
	if (sockets->waits == NULL) {
		return -ENOMEM;
	}
	sockets->capacity = FIRST_CAPACITY;
	sockets->waits[0] = (struct curl_waitfd){
			.fd = wake_fd, .events = CURL_WAIT_POLLIN};
	sockets->count = 1;
	return 0;
}

void sockets_finish(struct sockets *sockets)
{
	free(sockets->waits);
	*sockets = (struct sockets){0};
}

static int make_room(struct sockets *sockets)
{
	if (sockets->count < sockets->capacity) {
		return 0;
	}
	size_t capacity = sockets->capacity * 2;
	struct curl_waitfd *waits =
			reallocarray(sockets->waits, capacity, sizeof(*waits));
	if (waits == NULL) {
		return -ENOMEM;
	}
	sockets->waits = waits;
	sockets->capacity = capacity;
	return 0;
}

curl_socket_t sockets_open(
		struct sockets *sockets, const struct curl_sockaddr *to)
{
	if (make_room(sockets) != 0) {
		return CURL_SOCKET_BAD;
	}
	int fd = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
	if (fd < 0) {
		return CURL_SOCKET_BAD;
	}
	sockets->waits[sockets->count++] = (struct curl_waitfd){
			.fd = fd, .events = CURL_WAIT_POLLIN};
	return fd;
}

static void forget(struct sockets *sockets, size_t index)
{
	sockets->count--;
	sockets->waits[index] = sockets->waits[sockets->count];
}

int sockets_close(struct sockets *sockets, curl_socket_t fd)
{
	for (size_t i = 1; i < sockets->count; i++) {
		if (sockets->waits[i].fd == fd) {
			forget(sockets, i);
			break;
		}
	}
	return close(fd);
}

void sockets_end_dead(struct sockets *sockets)
{
	for (size_t i = sockets->count - 1; i > 0; i--) {
		if (sockets->waits[i].revents == 0) {
			continue;
		}
		/* Fails when the peer has reset it: it is as dead then. */
		(void)shutdown(sockets->waits[i].fd, SHUT_RDWR);
		forget(sockets, i);
	}
}
