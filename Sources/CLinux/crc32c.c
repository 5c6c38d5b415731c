#include "clinux.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

// CRC-32C, its bits reversed: x^32 + x^28 + x^27 + x^26 + x^25 + x^23 + x^22 + x^20 + x^19 + x^18 + x^14 +
// x^13 + x^11 + x^10 + x^9 + x^8 + x^6 + 1.
static uint32_t crc32c_by_bits(uint32_t sum, const uint8_t *bytes, size_t count) {
  uint32_t value = ~sum;
  for (size_t i = 0; i < count; i++) {
    value ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ (0x82f63b78 & -(value & 1));
  }
  return ~value;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_by_instruction(uint32_t sum, const uint8_t *bytes,
                                                                        size_t count) {
  uint64_t value = ~sum;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    __builtin_memcpy(&word, bytes, 8);
    value = _mm_crc32_u64(value, word);
  }
  for (; count > 0; bytes++, count--) value = _mm_crc32_u8((uint32_t)value, *bytes);
  return ~(uint32_t)value;
}
static int has_crc32c_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
__attribute__((target("crc"))) static uint32_t crc32c_by_instruction(uint32_t sum, const uint8_t *bytes,
                                                                     size_t count) {
  uint32_t value = ~sum;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    __builtin_memcpy(&word, bytes, 8);
    value = __crc32cd(value, word);
  }
  for (; count > 0; bytes++, count--) value = __crc32cb(value, *bytes);
  return ~value;
}
// HWCAP_CRC32
static int has_crc32c_instruction(void) { return (getauxval(AT_HWCAP) & (1 << 7)) != 0; }
#endif

uint32_t podcastfs_crc32c(uint32_t sum, const uint8_t *bytes, size_t count) {
#if defined(__x86_64__) || defined(__aarch64__)
  if (has_crc32c_instruction()) return crc32c_by_instruction(sum, bytes, count);
#endif
  return crc32c_by_bits(sum, bytes, count);
}
