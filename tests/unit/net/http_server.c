#include "http_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_connection.h"

#define MOST_CONNECTIONS 4096

struct server {
	int listener;
	uint16_t port;
	pthread_t thread;
	pthread_t connections[MOST_CONNECTIONS];
	size_t connection_count;
	atomic_bool stopping;
	struct server_counts counts;
};

bool connection_wait_readable(struct connection *connection)
{
	struct pollfd wait = {.fd = connection->fd, .events = POLLIN};

	while (!atomic_load(&connection->server->stopping)) {
		if (poll(&wait, 1, 20) > 0) {
			return true;
		}
	}
	return false;
}

/* Reads one request with its body; false at the end of the connection. */
static bool read_request(struct connection *connection)
{
	size_t wanted = 0;
	connection->request_length = 0;
	while (wanted == 0 || connection->request_length < wanted) {
		if (!connection_wait_readable(connection)) {
			return false;
		}
		char *at = connection->request + connection->request_length;
		ssize_t got = recv(connection->fd, at,
				HTTP_REQUEST_SIZE - 1 -
						connection->request_length,
				0);
		if (got <= 0) {
			return false;
		}
		connection->request_length += (size_t)got;
		connection->request[connection->request_length] = '\0';
		char *end = strstr(connection->request, "\r\n\r\n");
		char *length = strcasestr(
				connection->request, "\r\nContent-Length:");
		if (end != NULL) {
			wanted = (size_t)(end - connection->request) + 4;
			wanted += length != NULL && length < end
						  ? strtoul(length + 17, NULL,
								    10)
						  : 0;
		}
	}
	return sscanf(connection->request, "%*s %255s", connection->path) == 1;
}

static void *serve_connection(void *context)
{
	struct connection *connection = context;

	while (!connection->ended && read_request(connection)) {
		atomic_fetch_add(&connection->server->counts.requests, 1);
		connection_serve(connection);
	}
	(void)close(connection->fd);
	atomic_fetch_sub(&connection->server->counts.open, 1);
	free(connection);
	return NULL;
}

static void start_connection(struct server *server, int fd)
{
	int on = 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	struct connection *connection = calloc(1, sizeof(*connection));
	assert(connection != NULL);
	assert(server->connection_count < MOST_CONNECTIONS);
	connection->server = server;
	connection->fd = fd;
	atomic_fetch_add(&server->counts.connections, 1);
	atomic_fetch_add(&server->counts.open, 1);
	int error = pthread_create(
			&server->connections[server->connection_count++], NULL,
			serve_connection, connection);
	assert(error == 0);
}

static void *accept_connections(void *context)
{
	struct server *server = context;
	struct pollfd wait = {.fd = server->listener, .events = POLLIN};

	while (!atomic_load(&server->stopping)) {
		if (poll(&wait, 1, 20) <= 0) {
			continue;
		}
		int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) {
			start_connection(server, fd);
		}
	}
	return NULL;
}

struct server *server_start(void)
{
	struct server *server = calloc(1, sizeof(*server));
	assert(server != NULL);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = {.sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int error = bind(server->listener, (struct sockaddr *)&address, length);
	error |= listen(server->listener, 1024);
	error |= getsockname(
			server->listener, (struct sockaddr *)&address, &length);
	server->port = ntohs(address.sin_port);
	error |= pthread_create(
			&server->thread, NULL, accept_connections, server);
	assert(error == 0);
	return server;
}

void server_stop(struct server *server)
{
	atomic_store(&server->stopping, true);
	(void)pthread_join(server->thread, NULL);
	for (size_t i = 0; i < server->connection_count; i++) {
		(void)pthread_join(server->connections[i], NULL);
	}
	(void)close(server->listener);
	free(server);
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

struct server_counts *server_counts(struct server *server)
{
	return &server->counts;
}
