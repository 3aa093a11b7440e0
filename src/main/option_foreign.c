#include "main/option_foreign.h"

#include <stddef.h>
#include <string.h>

#include "main/option_table.h"

struct foreign {
	const char *name;
	const char *hint;
};

/* Names as s3fs, mountpoint-s3, gcsfuse, blobfuse2, rclone and goofys have
 * them, and those of libfuse that are settled here. */
static const struct foreign foreign_table[] = {
		/* Where and how to reach the store. */
		{"url", "calls it endpoint_url"},
		{"endpoint", "calls it endpoint_url (a URL) or region (a "
			     "name)"},
		{"s3_endpoint", "calls it endpoint_url"},
		{"custom_endpoint", "calls it endpoint_url"},
		{"use_path_request_style", "calls it path_style"},
		{"force_path_style", "calls it path_style"},
		{"s3_force_path_style", "calls it path_style"},
		{"subdomain", "calls it path_style=no"},
		{"s3_region", "calls it region"},
		{"s3_profile", "calls it profile"},
		{"bucket", "takes it from SOURCE: s3://BUCKET/PREFIX"},
		{"prefix", "takes it from SOURCE: s3://BUCKET/PREFIX"},
		{"only_dir", "takes it from SOURCE: s3://BUCKET/PREFIX"},
		{"container_name",
				"takes it from SOURCE: az://ACCOUNT/CONTAINER"},
		{"account_name",
				"takes it from SOURCE: az://ACCOUNT/CONTAINER"},
		{"config_file", "takes it as first argument: shardfs "
				"/etc/x.conf DIR"},
		{"connect_timeout", "calls it timeout"},
		{"readwrite_timeout", "calls it timeout"},
		{"contimeout", "calls it timeout"},
		{"http_timeout", "calls it timeout"},
		{"http_client_timeout", "calls it timeout"},
		{"max_retry_sleep", "calls it timeout"},
		{"low_level_retries", "calls it retries"},
		{"max_retry_attempts", "calls it retries"},
		{"ca_cert", "calls it ca_bundle"},
		{"bind", "calls it bind_interface"},
		{"bind_address", "calls it bind_interface"},
		{"no_check_certificate", "always verifies TLS; give the "
					 "certificate with "
					 "ca_bundle"},
		{"ssl_verify_hostname", "always verifies TLS; give the "
					"certificate with "
					"ca_bundle"},
		/* Who asks. */
		{"passwd_file", "calls it env_file, with AWS_… lines"},
		{"key_file", "calls it env_file, with GOOGLE_… lines"},
		{"iam_role", "finds instance roles by itself; leave it out"},
		{"ecs", "finds container roles by itself; leave it out"},
		{"public_bucket", "calls it anonymous"},
		{"no_sign_request", "calls it anonymous"},
		{"anonymous_access", "calls it anonymous"},
		{"billing_project", "calls it requester_pays"},
		{"sse_c", "calls it sse_c_key_file"},
		{"use_sse", "calls it sse_c_key_file"},
		{"access_key_id",
				"takes keys from the environment or env_file"},
		{"secret_access_key",
				"takes keys from the environment or env_file"},
		{"s3_access_key_id",
				"takes keys from the environment or env_file"},
		{"s3_secret_access_key",
				"takes keys from the environment or env_file"},
		/* The cache. */
		{"use_cache", "calls it cache_dir"},
		{"cache", "calls it cache_dir"},
		{"tmp_path", "calls it cache_dir"},
		{"max_cache_size", "calls it cache_size, with a unit: 10240M"},
		{"cache_size_mb", "calls it cache_size, with a unit: 10240M"},
		{"file_cache_max_size_mb",
				"calls it cache_size, with a unit: 10240M"},
		{"vfs_cache_max_size", "calls it cache_size"},
		{"vfs_cache_mode", "always caches what was read; leave it out"},
		{"vfs_cache_max_age", "calls it max_age"},
		{"file_cache_timeout", "calls it max_age"},
		{"file_cache_timeout_in_seconds", "calls it max_age"},
		{"ensure_diskfree", "calls it min_free"},
		{"vfs_cache_min_free_space", "calls it min_free"},
		{"del_cache", "calls it wipe_on_unmount"},
		{"buffer_size", "calls it memory"},
		{"max_memory_target", "calls it memory"},
		/* Listings. */
		{"stat_cache_expire", "calls it metadata_ttl"},
		{"stat_cache_interval_expire", "calls it metadata_ttl"},
		{"stat_cache_ttl", "calls it metadata_ttl"},
		{"type_cache_ttl", "calls it metadata_ttl"},
		{"metadata_cache_ttl", "calls it metadata_ttl"},
		{"metadata_cache_ttl_secs", "calls it metadata_ttl"},
		{"kernel_list_cache_ttl_secs", "calls it metadata_ttl"},
		{"negative_metadata_ttl", "calls it metadata_ttl"},
		{"attr_cache_timeout", "calls it metadata_ttl"},
		{"attr_timeout", "calls it metadata_ttl"},
		{"entry_timeout", "calls it metadata_ttl"},
		{"negative_timeout", "calls it metadata_ttl"},
		{"dir_cache_time", "calls it metadata_ttl"},
		{"enable_noobj_cache", "calls it metadata_ttl"},
		{"max_stat_cache_size", "sizes it by itself; leave it out"},
		{"stat_cache_max_size_mb", "sizes it by itself; leave it out"},
		{"implicit_dirs", "always shows them; leave it out"},
		{"compat_dir", "always shows such directories; leave it out"},
		{"virtual_directory", "always shows them; leave it out"},
		/* Transfers. */
		{"multipart_size", "calls it part_size, with a unit: 8M"},
		{"read_part_size", "calls it part_size"},
		{"block_size_mb", "calls it part_size, with a unit: 8M"},
		{"sequential_read_size_mb",
				"calls it part_size, with a unit: 8M"},
		{"vfs_read_chunk_size", "calls it part_size"},
		{"vfs_read_ahead", "calls it max_window"},
		{"max_readahead", "calls it max_window"},
		{"parallel_count", "calls it max_connections"},
		{"multireq_max", "calls it max_connections"},
		{"max_threads", "calls it max_connections"},
		{"max_concurrency", "calls it max_connections"},
		{"max_conns_per_host", "calls it max_connections"},
		{"transfers", "calls it max_connections"},
		{"maximum_throughput_gbps",
				"calls it max_rate, in bytes a second"},
		{"limit_bytes_per_sec", "calls it max_rate"},
		{"bwlimit", "calls it max_rate"},
		{"limit_ops_per_sec", "calls it request_limit"},
		/* The mount. */
		{"umask", "calls it file_mode and dir_mode, as modes"},
		{"mp_umask", "calls it dir_mode, as a mode"},
		{"allow_root", "calls it allow_other"},
		{"default_permissions",
				"always checks permissions; leave it out"},
		{"nonempty", "mounts over files without it; leave it out"},
		{"read_only", "only reads; leave it out"},
		{"max_read", "settles the request size itself; leave it out"},
		{"kernel_cache", "keeps pages by itself; leave it out"},
		{"auto_cache", "keeps pages by itself; leave it out"},
		{"direct_io", "keeps pages by itself; leave it out"},
		{"big_writes", "only reads; leave it out"},
		{"storage_class", "only reads; leave it out"},
		{"acl", "only reads; leave it out"},
		{"fsname", "shows SOURCE in the mount table; leave it out"},
		{"subtype", "shows fuse.shardfs in the mount table; leave it "
			    "out"},
		{"daemon", "goes to the background unless -f is given"},
		{"daemon_wait", "calls it mount_wait"},
		{"mount_max_retries", "calls it mount_wait"},
		{"dbglevel", "calls it log_level"},
		{"log_severity", "calls it log_level"},
		{"debug_s3", "calls it log_level=debug"},
		{"debug_fuse", "calls it log_level=debug"},
		{"curldbg", "calls it log_level=debug"},
		{"logfile", "calls it log_file"},
		{"log_directory", "calls it log_file"},
		{"log_file_path", "calls it log_file"},
		{"prometheus_port", "calls it metrics_listen"},
		{"rc_addr", "calls it metrics_listen"},
		{"metrics_addr", "calls it metrics_listen"},
};

const char *option_foreign_hint(const char *name)
{
	size_t count = sizeof(foreign_table) / sizeof(foreign_table[0]);

	for (size_t i = 0; i < count; i++) {
		if (option_name_equal(foreign_table[i].name, name)) {
			return foreign_table[i].hint;
		}
	}
	return NULL;
}

bool option_mount_word(const char *name)
{
	static const char *const words[] = {"rw", "ro", "defaults", "auto",
			"noauto", "user", "users", "nouser", "owner", "group",
			"_netdev", "nofail", "dev", "nodev", "suid", "nosuid",
			"exec", "noexec", "sync", "async", "dirsync",
			"lazytime", "nolazytime", "context", "fscontext",
			"defcontext", "rootcontext", "comment"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(name, words[i]) == 0) {
			return true;
		}
	}
	if (strncmp(name, "x-", 2) == 0 || strncmp(name, "X-", 2) == 0) {
		return true;
	}
	/* atime, noatime, relatime, strictatime, nodiratime, … */
	return length >= 5 && strcmp(name + length - 5, "atime") == 0;
}
