#ifndef PODCASTFS_CSYSTEMD_H
#define PODCASTFS_CSYSTEMD_H

// sd-bus, the D-Bus client of libsystemd, loaded when the first connection is made. Its prototypes stand here, so that
// nothing is needed to build podcastfs, and systems without the library run it as well: see sd-bus(3).
//
// The functions are named as sd-bus names them, behind `podcastfs_bus_`, and do the same. None may be called before
// `podcastfs_bus_load` has succeeded.

#include <stdint.h>

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct {
  const char *name;
  const char *message;
  int needs_free;
} sd_bus_error;
/// Called with a reply or a signal. A negative result ends the connection.
typedef int (*podcastfs_bus_handler)(sd_bus_message *message, void *data, sd_bus_error *error);

/// Loads the library, once for a process.
/// Returns null where that succeeded, else why not: a text that stays.
const char *podcastfs_bus_load(void);

/// Functions as sd-bus has them: result, name, parameters, arguments.
#define PODCASTFS_BUS_FUNCTIONS(each) \
  each(int, open_system, (sd_bus **bus), (bus)) \
  each(int, open_user, (sd_bus **bus), (bus)) \
  each(int, new, (sd_bus **bus), (bus)) \
  each(int, set_address, (sd_bus *bus, const char *address), (bus, address)) \
  each(int, set_bus_client, (sd_bus *bus, int isClient), (bus, isClient)) \
  each(int, start, (sd_bus *bus), (bus)) \
  each(sd_bus *, close_unref, (sd_bus *bus), (bus)) \
  each(int, get_fd, (sd_bus *bus), (bus)) \
  each(int, get_events, (sd_bus *bus), (bus)) \
  each(int, get_timeout, (sd_bus *bus, uint64_t *microseconds), (bus, microseconds)) \
  each(int, process, (sd_bus *bus, sd_bus_message **message), (bus, message)) \
  each(int, add_match_async, (sd_bus *bus, sd_bus_slot **slot, const char *rule, podcastfs_bus_handler heard, \
                              podcastfs_bus_handler installed, void *data), \
       (bus, slot, rule, heard, installed, data)) \
  each(int, call_async, (sd_bus *bus, sd_bus_slot **slot, sd_bus_message *call, podcastfs_bus_handler answered, \
                         void *data, uint64_t microseconds), \
       (bus, slot, call, answered, data, microseconds)) \
  each(int, message_new_method_call, (sd_bus *bus, sd_bus_message **message, const char *destination, \
                                      const char *path, const char *interface, const char *member), \
       (bus, message, destination, path, interface, member)) \
  each(sd_bus_message *, message_unref, (sd_bus_message *message), (message)) \
  each(int, message_append_basic, (sd_bus_message *message, char type, const void *value), (message, type, value)) \
  each(int, message_open_container, (sd_bus_message *message, char type, const char *contents), \
       (message, type, contents)) \
  each(int, message_close_container, (sd_bus_message *message), (message)) \
  each(int, message_peek_type, (sd_bus_message *message, char *type, const char **contents), \
       (message, type, contents)) \
  each(int, message_read_basic, (sd_bus_message *message, char type, void *value), (message, type, value)) \
  each(int, message_enter_container, (sd_bus_message *message, char type, const char *contents), \
       (message, type, contents)) \
  each(int, message_exit_container, (sd_bus_message *message), (message)) \
  each(int, message_skip, (sd_bus_message *message, const char *types), (message, types)) \
  each(const sd_bus_error *, message_get_error, (sd_bus_message *message), (message)) \
  each(const char *, message_get_sender, (sd_bus_message *message), (message)) \
  each(const char *, message_get_path, (sd_bus_message *message), (message)) \
  each(const char *, message_get_member, (sd_bus_message *message), (message))
#define PODCASTFS_BUS_DECLARE(result, name, parameters, arguments) result podcastfs_bus_##name parameters;
PODCASTFS_BUS_FUNCTIONS(PODCASTFS_BUS_DECLARE)

#endif
