// Typed calls, without curl's own checks of variadic ones: those name the functions that are looked up here.
#define CURL_DISABLE_TYPECHECK
#include "ccurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define OTHERS(each) \
  each(global_init) each(easy_setopt) each(easy_getinfo) each(multi_setopt) each(url) each(url_cleanup) each(url_set) each(url_get)
#define POINTER(name) static __typeof__(&curl_##name) name##_;
OTHERS(POINTER)
#define DEFINE(result, name, parameters, arguments) \
  POINTER(name) \
  result podcastfs_curl_##name parameters { return name##_ arguments; }
PODCASTFS_CURL_FUNCTIONS(DEFINE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char why[256] = "";

static void refuse(const char *reason) { strncpy(why, reason ? reason : "unknown", sizeof why - 1); }

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return refuse(dlerror());
#define FIND(name) \
  if (!(name##_ = (__typeof__(&curl_##name))dlsym(library, "curl_" #name))) return refuse(dlerror());
#define FIND_FUNCTION(result, name, parameters, arguments) FIND(name)
  OTHERS(FIND)
  PODCASTFS_CURL_FUNCTIONS(FIND_FUNCTION)
  if (global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK) refuse("libcurl cannot be initialized");
}

const char *podcastfs_curl_load(void) {
  pthread_once(&once, load);
  return why[0] ? why : NULL;
}

#define SET(kind, type) \
  CURLcode podcastfs_curl_set_##kind(CURL *easy, CURLoption option, type value) { \
    return easy_setopt_(easy, option, value); \
  }
#define GET(kind, type) \
  CURLcode podcastfs_curl_get_##kind(CURL *easy, CURLINFO info, type value) { return easy_getinfo_(easy, info, value); }
PODCASTFS_CURL_OPTIONS(SET, GET)

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
