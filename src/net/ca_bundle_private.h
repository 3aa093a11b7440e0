#ifndef NET_CA_BUNDLE_PRIVATE_H
#define NET_CA_BUNDLE_PRIVATE_H

/*
 * The file with the certificates of authorities to trust: `option`, else what
 * AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE name, else NULL for libcurl's
 * own if that is there, else the first of the places distributions use. NULL
 * also when there is none at all: then TLS fails, plain http does not. The
 * caller frees it. -ENOENT when a named file cannot be read, -ENOMEM.
 */
int ca_bundle_find(const char *option, char **out_path);

#endif
