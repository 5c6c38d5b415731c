#include "csystemd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define DEFINE(result, name, parameters, arguments) \
  static result(*name##_) parameters; \
  result podcastfs_bus_##name parameters { return name##_ arguments; }
PODCASTFS_BUS_FUNCTIONS(DEFINE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char why[256] = "";

static void refuse(const char *reason) { strncpy(why, reason ? reason : "unknown", sizeof why - 1); }

static void load(void) {
  void *library = dlopen("libsystemd.so.0", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return refuse(dlerror());
#define FIND(result, name, parameters, arguments) \
  if (!(name##_ = (__typeof__(name##_))dlsym(library, "sd_bus_" #name))) return refuse(dlerror());
  PODCASTFS_BUS_FUNCTIONS(FIND)
}

const char *podcastfs_bus_load(void) {
  pthread_once(&once, load);
  return why[0] ? why : NULL;
}
