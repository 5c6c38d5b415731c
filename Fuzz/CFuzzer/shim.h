#ifndef PODCASTFS_CFUZZER_SHIM_H
#define PODCASTFS_CFUZZER_SHIM_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry for programs with a main of their own (https://llvm.org/docs/LibFuzzer.html).
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
