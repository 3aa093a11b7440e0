#ifndef TESTS_CACHE_FAKE_FETCH_H
#define TESTS_CACHE_FAKE_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stands in for fetch: keeps the ranges it is given, in order, and gives bytes
 * and ends when the test says so, on the test's thread.
 */
void fake_fetch_reset(void);

/* Promotions come too late: they are not heard. */
void fake_fetch_be_deaf(bool deaf);

/* The byte of any object at an offset. */
uint8_t fake_fetch_byte(uint64_t offset);

size_t fake_fetch_count(void);
/* Waits until so many ranges were submitted in all; false after 5 s. */
bool fake_fetch_wait_count(size_t count);

uint64_t fake_fetch_offset(size_t index);
uint64_t fake_fetch_length(size_t index);
/* Submitted or promoted as demand. */
bool fake_fetch_demand(size_t index);
unsigned fake_fetch_promotions(size_t index);
bool fake_fetch_canceled(size_t index);

/* Gives the next `length` bytes of the range, in pieces of 10,000. */
void fake_fetch_give(size_t index, uint64_t length);
void fake_fetch_end(size_t index, int error);
/* Gives all that is left and ends well. */
void fake_fetch_finish(size_t index);

#endif
