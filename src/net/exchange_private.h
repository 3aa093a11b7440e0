#ifndef NET_EXCHANGE_PRIVATE_H
#define NET_EXCHANGE_PRIVATE_H

#include <curl/curl.h>
#include <stddef.h>

/*
 * What libcurl calls during one exchange, on the loop's thread. `context` is
 * the struct net_request, for exchange_close_socket the loop's struct sockets:
 * connections outlive requests.
 */
size_t exchange_on_header(char *line, size_t size, size_t count, void *context);
size_t exchange_on_body(char *data, size_t size, size_t count, void *context);
int exchange_on_send(void *context, char *remote, char *local, int remote_port,
		int local_port);
curl_socket_t exchange_open_socket(
		void *context, curlsocktype purpose, struct curl_sockaddr *to);
int exchange_close_socket(void *context, curl_socket_t fd);

#endif
