#include "clinux.h"

// CRC-32C by the processor: how to add eight bytes, how to add one, and whether this processor can.
#if defined(__x86_64__)
#include <nmmintrin.h>
#define TARGET "sse4.2"
#define ADD_WORD(sum, word) (uint32_t)_mm_crc32_u64(sum, word)
#define ADD_BYTE _mm_crc32_u8
#define HAS_INSTRUCTIONS __builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define TARGET "crc"
#define ADD_WORD __crc32cd
#define ADD_BYTE __crc32cb
// HWCAP_CRC32
#define HAS_INSTRUCTIONS ((getauxval(AT_HWCAP) & (1 << 7)) != 0)
#endif

// CRC-32C, its bits reversed: x^32 + x^28 + x^27 + x^26 + x^25 + x^23 + x^22 + x^20 + x^19 + x^18 + x^14 +
// x^13 + x^11 + x^10 + x^9 + x^8 + x^6 + 1.
static uint32_t crc32c_by_bits(uint32_t value, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    value ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ (0x82f63b78 & -(value & 1));
  }
  return value;
}

#ifdef TARGET
__attribute__((target(TARGET))) static uint32_t crc32c_by_instruction(uint32_t value, const uint8_t *bytes,
                                                                      size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    __builtin_memcpy(&word, bytes, 8);
    value = ADD_WORD(value, word);
  }
  for (; count > 0; bytes++, count--) value = ADD_BYTE(value, *bytes);
  return value;
}
#endif

uint32_t podcastfs_crc32c(uint32_t sum, const uint8_t *bytes, size_t count) {
#ifdef TARGET
  if (HAS_INSTRUCTIONS) return ~crc32c_by_instruction(~sum, bytes, count);
#endif
  return ~crc32c_by_bits(~sum, bytes, count);
}
