#ifndef PODCASTFS_CCURL_H
#define PODCASTFS_CCURL_H

// libcurl, loaded when the first request is made: with all that it needs itself it takes longer to load than all the
// rest of the program, and a process that parses a feed, or mounts and sleeps, never uses it.
//
// Its option calls are variadic, which Swift cannot call: here is one typed function per kind. The others are named as
// libcurl names them, behind `podcastfs_curl_`, and do the same. None may be called before `podcastfs_curl_load` has
// succeeded.

#include <curl/curl.h>
#include <stdint.h>

/// Loads and initializes it, once for a process.
/// Returns null where that succeeded, else why not: a text that stays.
const char *podcastfs_curl_load(void);

/// Functions as libcurl has them: result, name, parameters, arguments.
#define PODCASTFS_CURL_FUNCTIONS(each) \
  each(CURL *, easy_init, (void), ()) \
  each(void, easy_cleanup, (CURL *easy), (easy)) \
  each(CURLcode, easy_pause, (CURL *easy, int mask), (easy, mask)) \
  each(const char *, easy_strerror, (CURLcode code), (code)) \
  each(struct curl_header *, easy_nextheader, (CURL *easy, unsigned origins, int request, struct curl_header *last), \
       (easy, origins, request, last)) \
  each(CURLM *, multi_init, (void), ()) \
  each(CURLMcode, multi_cleanup, (CURLM *multi), (multi)) \
  each(CURLMcode, multi_add_handle, (CURLM *multi, CURL *easy), (multi, easy)) \
  each(CURLMcode, multi_remove_handle, (CURLM *multi, CURL *easy), (multi, easy)) \
  each(CURLMsg *, multi_info_read, (CURLM *multi, int *left), (multi, left)) \
  each(CURLMcode, multi_socket_action, (CURLM *multi, curl_socket_t socket, int events, int *running), \
       (multi, socket, events, running)) \
  each(struct curl_slist *, slist_append, (struct curl_slist *list, const char *line), (list, line)) \
  each(void, slist_free_all, (struct curl_slist *list), (list)) \
  each(void, free, (void *memory), (memory)) \
  each(curl_version_info_data *, version_info, (CURLversion age), (age))
#define PODCASTFS_CURL_DECLARE(result, name, parameters, arguments) result podcastfs_curl_##name parameters;
PODCASTFS_CURL_FUNCTIONS(PODCASTFS_CURL_DECLARE)

typedef size_t (*podcastfs_curl_data_callback)(char *, size_t, size_t, void *);
typedef curl_socket_t (*podcastfs_curl_open_socket)(void *, curlsocktype, struct curl_sockaddr *);
typedef int (*podcastfs_curl_before_request)(void *, char *, char *, int, int);
/// Kinds of options (curl_easy_setopt(3)) and facts (curl_easy_getinfo(3)).
#define PODCASTFS_CURL_OPTIONS(set, get) \
  set(long, long) set(string, const char *) set(pointer, void *) set(list, struct curl_slist *) \
  set(data_callback, podcastfs_curl_data_callback) set(open_socket, podcastfs_curl_open_socket) \
  set(before_request, podcastfs_curl_before_request) get(long, long *) get(string, char **)
#define PODCASTFS_CURL_SET(kind, type) CURLcode podcastfs_curl_set_##kind(CURL *easy, CURLoption option, type value);
#define PODCASTFS_CURL_GET(kind, type) CURLcode podcastfs_curl_get_##kind(CURL *easy, CURLINFO info, type value);
PODCASTFS_CURL_OPTIONS(PODCASTFS_CURL_SET, PODCASTFS_CURL_GET)

CURLMcode podcastfs_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);
typedef int (*podcastfs_curl_socket_callback)(CURL *, curl_socket_t, int, void *, void *);
typedef int (*podcastfs_curl_timer_callback)(CURLM *, long, void *);
/// Who hears which sockets to watch, and when to call again (curl_multi_socket_action(3)).
void podcastfs_curl_multi_set_callbacks(CURLM *multi, podcastfs_curl_socket_callback socket,
                                        podcastfs_curl_timer_callback timer, void *data);
/// The address that `reference` means on a page at `base` (RFC 3986 §5), or null; for `podcastfs_curl_free`.
char *podcastfs_curl_resolve(const char *base, const char *reference);

#endif
