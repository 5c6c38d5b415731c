// Typed calls, without curl's own checks of variadic ones: those name the functions that are looked up here.
#define CURL_DISABLE_TYPECHECK
#include "ccurl.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

#define FUNCTIONS(each) \
  each(global_init) each(easy_init) each(easy_cleanup) each(easy_pause) each(easy_strerror) each(easy_setopt) \
  each(easy_getinfo) each(multi_init) each(multi_cleanup) each(multi_add_handle) each(multi_remove_handle) \
  each(multi_info_read) each(multi_socket_action) each(multi_setopt) each(share_init) each(share_cleanup) \
  each(share_setopt) each(slist_append) each(slist_free_all) each(free) each(version_info) each(url) \
  each(url_cleanup) each(url_set) each(url_get) each(easy_nextheader)

#define POINTER(name) static __typeof__(&curl_##name) name##_;
FUNCTIONS(POINTER)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char why[256] = "";

static void refuse(const char *reason) { strncpy(why, reason ? reason : "unknown", sizeof why - 1); }

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return refuse(dlerror());
#define FIND(name) \
  if (!(name##_ = (__typeof__(&curl_##name))dlsym(library, "curl_" #name))) return refuse(dlerror());
  FUNCTIONS(FIND)
  if (global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK) refuse("libcurl cannot be initialized");
}

const char *podcastfs_curl_load(void) {
  pthread_once(&once, load);
  return why[0] ? why : NULL;
}

CURL *podcastfs_curl_easy_init(void) { return easy_init_(); }
void podcastfs_curl_easy_cleanup(CURL *easy) { easy_cleanup_(easy); }
CURLcode podcastfs_curl_easy_pause(CURL *easy, int bitmask) { return easy_pause_(easy, bitmask); }
const char *podcastfs_curl_easy_strerror(CURLcode code) { return easy_strerror_(code); }
struct curl_header *podcastfs_curl_easy_nextheader(CURL *easy, unsigned origins, int request, struct curl_header *last) {
  return easy_nextheader_(easy, origins, request, last);
}
CURLM *podcastfs_curl_multi_init(void) { return multi_init_(); }
CURLMcode podcastfs_curl_multi_cleanup(CURLM *multi) { return multi_cleanup_(multi); }
CURLMcode podcastfs_curl_multi_add_handle(CURLM *multi, CURL *easy) { return multi_add_handle_(multi, easy); }
CURLMcode podcastfs_curl_multi_remove_handle(CURLM *multi, CURL *easy) { return multi_remove_handle_(multi, easy); }
CURLMsg *podcastfs_curl_multi_info_read(CURLM *multi, int *left) { return multi_info_read_(multi, left); }
CURLMcode podcastfs_curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running) {
  return multi_socket_action_(multi, socket, events, running);
}
CURLSHcode podcastfs_curl_share_cleanup(CURLSH *share) { return share_cleanup_(share); }
struct curl_slist *podcastfs_curl_slist_append(struct curl_slist *list, const char *line) {
  return slist_append_(list, line);
}
void podcastfs_curl_slist_free_all(struct curl_slist *list) { slist_free_all_(list); }
void podcastfs_curl_free(void *memory) { free_(memory); }
curl_version_info_data *podcastfs_curl_version_info(CURLversion age) { return version_info_(age); }

CURLcode podcastfs_curl_set_long(CURL *easy, CURLoption option, long value) {
  return easy_setopt_(easy, option, value);
}
CURLcode podcastfs_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return easy_setopt_(easy, option, value);
}
CURLcode podcastfs_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return easy_setopt_(easy, option, value);
}
CURLcode podcastfs_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return easy_setopt_(easy, option, value);
}
CURLcode podcastfs_curl_set_data_callback(CURL *easy, CURLoption option, podcastfs_curl_data_callback value) {
  return easy_setopt_(easy, option, value);
}
CURLcode podcastfs_curl_set_open_socket(CURL *easy, podcastfs_curl_open_socket value) {
  return easy_setopt_(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
CURLcode podcastfs_curl_set_before_request(CURL *easy, podcastfs_curl_before_request value) {
  return easy_setopt_(easy, CURLOPT_PREREQFUNCTION, value);
}
CURLcode podcastfs_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return easy_getinfo_(easy, info, value);
}
CURLcode podcastfs_curl_get_string(CURL *easy, CURLINFO info, char **value) {
  return easy_getinfo_(easy, info, value);
}
CURLMcode podcastfs_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return multi_setopt_(multi, option, value);
}
void podcastfs_curl_multi_set_callbacks(CURLM *multi, podcastfs_curl_socket_callback socket,
                                        podcastfs_curl_timer_callback timer, void *data) {
  multi_setopt_(multi, CURLMOPT_SOCKETFUNCTION, socket);
  multi_setopt_(multi, CURLMOPT_SOCKETDATA, data);
  multi_setopt_(multi, CURLMOPT_TIMERFUNCTION, timer);
  multi_setopt_(multi, CURLMOPT_TIMERDATA, data);
}
CURLSH *podcastfs_curl_share_tls_sessions(void) {
  CURLSH *share = share_init_();
  if (share) share_setopt_(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}
char *podcastfs_curl_resolve(const char *base, const char *reference) {
  const unsigned leave = CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE;
  char *result = NULL;
  CURLU *address = url_();
  if (address && url_set_(address, CURLUPART_URL, base, leave) == CURLUE_OK &&
      url_set_(address, CURLUPART_URL, reference, leave) == CURLUE_OK)
    url_get_(address, CURLUPART_URL, &result, 0);
  url_cleanup_(address);
  return result;
}

int podcastfs_curl_address(const struct curl_sockaddr *from, uint8_t bytes[16], uint16_t *port) {
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
CURLcode podcastfs_curl_message_result(const CURLMsg *message) { return message->data.result; }
