#ifndef NET_SOCKETS_PRIVATE_H
#define NET_SOCKETS_PRIVATE_H

#include <curl/curl.h>
#include <stddef.h>

/*
 * The sockets of one loop. libcurl looks at a kept-alive connection only when
 * a transfer may want it: one that the server closed would stay in CLOSE_WAIT
 * as long as nothing is asked for. So a loop without transfers waits for its
 * sockets too, and shuts those down that have something to say: on an idle
 * connection that can only be its end. libcurl closes them later.
 *
 * Used by the loop's thread only.
 */
struct sockets {
	/* waits[0] is the loop's wake-up, the others are open sockets, in no
	 * order: what curl_multi_poll waits for. */
	struct curl_waitfd *waits;
	size_t count;
	size_t capacity;
};

int sockets_init(struct sockets *sockets, int wake_fd);
void sockets_finish(struct sockets *sockets);

/* Closed on exec. CURL_SOCKET_BAD when there is no descriptor or memory. */
curl_socket_t sockets_open(
		struct sockets *sockets, const struct curl_sockaddr *to);
int sockets_close(struct sockets *sockets, curl_socket_t fd);

/* Shuts down those that the last wait found readable, and forgets them. Only
 * when no transfer is under way. */
void sockets_end_dead(struct sockets *sockets);

#endif
