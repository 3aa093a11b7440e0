#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct strbuf;

/*
 * Everything a mount counts, since the mount. One table: X(field, group,
 * json_name, kind, help). `group` is the JSON object it is shown in ("" for
 * the top), kind is "counter" or "gauge". The Prometheus name is
 * shardfs_<group>_<json_name>[_total]. Names have their unit.
 */
#define COUNTERS(X)                                                            \
	X(requests_get, requests, get, counter, "Range requests sent")         \
	X(requests_list, requests, list, counter, "Listing pages asked for")   \
	X(requests_head, requests, head, counter, "Object lookups sent")       \
	X(requests_other, requests, other, counter, "Credential requests")     \
	X(bytes_store, bytes, store, counter, "Object bytes from the store")   \
	X(bytes_disk, bytes, disk, counter, "Bytes read from the disk cache")  \
	X(bytes_memory, bytes, memory, counter, "Bytes found in memory")       \
	X(bytes_read, bytes, read, counter, "Bytes given to readers")          \
	X(bytes_written, bytes, written, counter, "Bytes written to cache")    \
	X(bytes_dropped, bytes, dropped, counter, "Fetched, dropped unread")   \
	X(cache_hits, cache, hits, counter, "Blocks found in disk cache")      \
	X(cache_misses, cache, misses, counter, "Blocks fetched from store")   \
	X(cache_evictions, cache, evictions, counter, "Chunks evicted")        \
	X(cache_damaged, cache, damaged, counter, "Blocks failing checksum")   \
	X(cache_unwritten, cache, unwritten, counter, "Blocks not written")    \
	X(cache_errors, cache, errors, counter, "Failed cache operations")     \
	X(retries, "", retries, counter, "Requests sent again")                \
	X(throttled, "", throttled, counter,                                   \
			"Answers that asked to slow down")                     \
	X(errors_store, errors, store, counter, "Requests given up: store")    \
	X(errors_network, errors, network, counter, "Given up: network")       \
	X(errors_denied, errors, denied, counter, "Answers 401 or 403")        \
	X(errors_changed, errors, changed, counter, "Object changed or gone")  \
	X(errors_invalid, errors, invalid, counter, "Answers not as asked")    \
	X(errors_readers, errors, readers, counter, "Reads ended with error")  \
	X(stall_us, "", stall_us, counter, "Time readers waited for bytes")    \
	X(fuse_reads, fuse, reads, counter, "READ requests")                   \
	X(fuse_lookups, fuse, lookups, counter, "LOOKUP requests")             \
	X(fuse_opens, fuse, opens, counter, "OPEN requests")                   \
	X(fuse_readdirs, fuse, readdirs, counter, "READDIR requests")          \
	X(inodes, "", inodes, gauge, "Inodes known to the kernel")             \
	X(open_files, "", open_files, gauge, "Open files")                     \
	X(streams, "", streams, gauge, "Sequential streams")                   \
	X(window_bytes, "", window_bytes, gauge, "Sum of read-ahead windows")  \
	X(transfers, "", transfers, gauge, "Transfers under way")              \
	X(transfer_limit, "", transfer_limit, gauge, "Transfers allowed")      \
	X(memory_used_bytes, memory, used_bytes, gauge, "Buffers in use")      \
	X(memory_waiters, memory, waiters, gauge, "Reads waiting for memory")  \
	X(hidden_keys, "", hidden_keys, counter, "Keys that cannot be shown")  \
	X(listings, "", listings, gauge, "Listings in memory")

struct counters {
#define COUNTERS_FIELD(field, group, name, kind, help) _Atomic uint64_t field;
	COUNTERS(COUNTERS_FIELD)
#undef COUNTERS_FIELD
};

static inline void counters_add(_Atomic uint64_t *counter, uint64_t amount)
{
	atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static inline void counters_sub(_Atomic uint64_t *gauge, uint64_t amount)
{
	atomic_fetch_sub_explicit(gauge, amount, memory_order_relaxed);
}

static inline uint64_t counters_get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
