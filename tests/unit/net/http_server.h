#ifndef TESTS_HTTP_SERVER_H
#define TESTS_HTTP_SERVER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A small HTTP/1.1 server on loopback that does what the path of a request
 * asks for, a thread a connection:
 *
 *   /ok/N         200 with N bytes          /chunked/N    the same, chunked
 *   /encoded/N    said to be gzip
 *   /trickle/N    one byte a write          /until-close/N  without a length
 *   /short/N      ends after N / 2          /cut/N        resets after N / 2
 *   /stall/N      silent after N / 2        /silent       never answers
 *   /reset        resets at once            /nothing      closes at once
 *   /garbage      not HTTP                  /echo         the request itself
 *   /bye          200, then closes          /once/N       resets a second
 *   /interim/N    N times 103, then 200                   request on the same
 *   /fields/N     N header fields                         connection
 *   /field/N      one of N bytes            /trailer      an ETag in a trailer
 *   /named/TEXT   TEXT as header lines ('|' ends one)
 *
 * Byte i of a body is server_byte(i).
 */
struct server;

struct server_counts {
	atomic_size_t connections; /* Accepted. */
	atomic_size_t requests;	   /* Read whole. */
	atomic_size_t open;	   /* Connections not ended yet. */
};

struct server *server_start(void);
/* Ends all connections, and joins. */
void server_stop(struct server *server);

uint16_t server_port(const struct server *server);
struct server_counts *server_counts(struct server *server);

unsigned char server_byte(size_t offset);

#endif
