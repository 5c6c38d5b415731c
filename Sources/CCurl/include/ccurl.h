#ifndef PODCASTFS_CCURL_H
#define PODCASTFS_CCURL_H

// libcurl, loaded when the first request is made: with all that it needs itself it takes longer to load than all the
// rest of the program, and a process that parses a feed, or mounts and sleeps, never uses it.
//
// Its option calls are variadic, which Swift cannot call: here is one typed function per kind. The others are named as
// libcurl names them, behind `podcastfs_`, and do the same. None may be called before `podcastfs_curl_load` has
// succeeded.

#include <curl/curl.h>
#include <stdint.h>

/// Loads and initializes it, once for a process.
/// Returns null where that succeeded, else why not: a text that stays.
const char *podcastfs_curl_load(void);

CURL *podcastfs_curl_easy_init(void);
void podcastfs_curl_easy_cleanup(CURL *easy);
CURLcode podcastfs_curl_easy_pause(CURL *easy, int bitmask);
const char *podcastfs_curl_easy_strerror(CURLcode code);
struct curl_header *podcastfs_curl_easy_nextheader(CURL *easy, unsigned origins, int request, struct curl_header *last);
CURLM *podcastfs_curl_multi_init(void);
CURLMcode podcastfs_curl_multi_cleanup(CURLM *multi);
CURLMcode podcastfs_curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode podcastfs_curl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMsg *podcastfs_curl_multi_info_read(CURLM *multi, int *left);
CURLMcode podcastfs_curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running);
CURLSHcode podcastfs_curl_share_cleanup(CURLSH *share);
struct curl_slist *podcastfs_curl_slist_append(struct curl_slist *list, const char *line);
void podcastfs_curl_slist_free_all(struct curl_slist *list);
void podcastfs_curl_free(void *memory);
curl_version_info_data *podcastfs_curl_version_info(CURLversion age);

CURLcode podcastfs_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode podcastfs_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode podcastfs_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode podcastfs_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
typedef size_t (*podcastfs_curl_data_callback)(char *, size_t, size_t, void *);
CURLcode podcastfs_curl_set_data_callback(CURL *easy, CURLoption option, podcastfs_curl_data_callback value);
typedef curl_socket_t (*podcastfs_curl_open_socket)(void *, curlsocktype, struct curl_sockaddr *);
CURLcode podcastfs_curl_set_open_socket(CURL *easy, podcastfs_curl_open_socket value);
typedef int (*podcastfs_curl_before_request)(void *, char *, char *, int, int);
CURLcode podcastfs_curl_set_before_request(CURL *easy, podcastfs_curl_before_request value);
CURLcode podcastfs_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode podcastfs_curl_get_string(CURL *easy, CURLINFO info, char **value);
CURLMcode podcastfs_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);
typedef int (*podcastfs_curl_socket_callback)(CURL *, curl_socket_t, int, void *, void *);
typedef int (*podcastfs_curl_timer_callback)(CURLM *, long, void *);
/// Who hears which sockets to watch, and when to call again (curl_multi_socket_action(3)).
void podcastfs_curl_multi_set_callbacks(CURLM *multi, podcastfs_curl_socket_callback socket,
                                        podcastfs_curl_timer_callback timer, void *data);
/// A share of TLS sessions between the easy handles of one thread; null without memory.
CURLSH *podcastfs_curl_share_tls_sessions(void);
/// The address that `reference` means on a page at `base` (RFC 3986 §5), or null; for `podcastfs_curl_free`.
char *podcastfs_curl_resolve(const char *base, const char *reference);

/// The IP address in network order and the port of a socket about to be made; answers how many bytes the
/// address has, 0 for another family. (libcurl declares the address too short for IPv6.)
int podcastfs_curl_address(const struct curl_sockaddr *from, uint8_t bytes[16], uint16_t *port);
/// The result of a finished message: the union is out of Swift's reach by name.
CURLcode podcastfs_curl_message_result(const CURLMsg *message);
/// CURLAUTH_BASIC and CURLAUTH_DIGEST: macros that Swift does not see.
static const long podcastfs_curl_basic = (long)CURLAUTH_BASIC;
static const long podcastfs_curl_digest = (long)CURLAUTH_DIGEST;

#endif
