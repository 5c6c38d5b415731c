#ifndef PODCASTFS_CCURL_SHIM_H
#define PODCASTFS_CCURL_SHIM_H

// libcurl's option calls are variadic, which Swift cannot call: one typed inline function per kind.

#include <curl/curl.h>

static inline CURLcode podcastfs_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode podcastfs_curl_set_off_t(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode podcastfs_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode podcastfs_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode podcastfs_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}
typedef size_t (*podcastfs_curl_data_callback)(char *, size_t, size_t, void *);
static inline CURLcode podcastfs_curl_set_data_callback(CURL *easy, CURLoption option,
                                                        podcastfs_curl_data_callback value) {
  return curl_easy_setopt(easy, option, value);
}
typedef curl_socket_t (*podcastfs_curl_open_socket)(void *, curlsocktype, struct curl_sockaddr *);
static inline CURLcode podcastfs_curl_set_open_socket(CURL *easy, podcastfs_curl_open_socket value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode podcastfs_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode podcastfs_curl_get_off_t(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode podcastfs_curl_get_string(CURL *easy, CURLINFO info, char **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode podcastfs_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode podcastfs_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
/// The easy handle of a finished message, and its result: the union is out of Swift's reach by name.
static inline CURLcode podcastfs_curl_message_result(const CURLMsg *message) { return message->data.result; }

#endif
