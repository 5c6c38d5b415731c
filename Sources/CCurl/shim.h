#ifndef PODCASTFS_CCURL_SHIM_H
#define PODCASTFS_CCURL_SHIM_H

// libcurl's option calls are variadic, which Swift cannot call: one typed inline function per kind.

#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

static inline CURLcode podcastfs_curl_set_long(CURL *easy, CURLoption option, long value) {
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
/// The IP address in network order and the port of a socket about to be made; answers how many bytes the
/// address has, 0 for another family. (libcurl declares the address too short for IPv6.)
static inline int podcastfs_curl_address(const struct curl_sockaddr *from, uint8_t bytes[16], uint16_t *port) {
  if (from->family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&from->addr;
    memcpy(bytes, &v4->sin_addr, 4);
    *port = ntohs(v4->sin_port);
    return 4;
  }
  if (from->family == AF_INET6) {
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&from->addr;
    memcpy(bytes, &v6->sin6_addr, 16);
    *port = ntohs(v6->sin6_port);
    return 16;
  }
  return 0;
}
typedef int (*podcastfs_curl_before_request)(void *, char *, char *, int, int);
static inline CURLcode podcastfs_curl_set_before_request(CURL *easy, podcastfs_curl_before_request value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode podcastfs_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode podcastfs_curl_get_string(CURL *easy, CURLINFO info, char **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode podcastfs_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
typedef int (*podcastfs_curl_socket_callback)(CURL *, curl_socket_t, int, void *, void *);
typedef int (*podcastfs_curl_timer_callback)(CURLM *, long, void *);
/// Who hears which sockets to watch, and when to call again (curl_multi_socket_action(3)).
static inline void podcastfs_curl_multi_set_callbacks(CURLM *multi, podcastfs_curl_socket_callback socket,
                                                      podcastfs_curl_timer_callback timer, void *data) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, data);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, data);
}
/// CURLAUTH_BASIC: a macro that Swift does not see.
static const long podcastfs_curl_basic = (long)CURLAUTH_BASIC;
/// A share of TLS sessions between the easy handles of one thread; null without memory.
static inline CURLSH *podcastfs_curl_share_tls_sessions(void) {
  CURLSH *share = curl_share_init();
  if (share) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}
/// The address that `reference` means on a page at `base` (RFC 3986 §5), or null; for curl_free.
static inline char *podcastfs_curl_resolve(const char *base, const char *reference) {
  char *result = NULL;
  CURLU *url = curl_url();
  if (url && curl_url_set(url, CURLUPART_URL, base, CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE) == CURLUE_OK &&
      curl_url_set(url, CURLUPART_URL, reference, CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE) == CURLUE_OK)
    curl_url_get(url, CURLUPART_URL, &result, 0);
  curl_url_cleanup(url);
  return result;
}
/// The easy handle of a finished message, and its result: the union is out of Swift's reach by name.
static inline CURLcode podcastfs_curl_message_result(const CURLMsg *message) { return message->data.result; }

#endif
