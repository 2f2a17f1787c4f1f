#include "core/bytes.hpp"

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace telegate {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // reflected
constexpr std::size_t slices = 8;                 // bytes of one step
constexpr std::uint32_t byte_bits = 8;
constexpr std::uint32_t byte_mask = 0xFF;
using Table = std::array<std::uint32_t, 256>;

/// Table n: the effect of a byte on the sum if n more bytes follow it in the step.
constexpr std::array<Table, slices> make_tables() {
    std::array<Table, slices> tables{};
    for (std::uint32_t byte = 0; byte < tables[0].size(); ++byte) {
        std::uint32_t sum = byte;
        for (std::uint32_t bit = 0; bit < byte_bits; ++bit) {
            sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? polynomial : 0);
        }
        tables[0][byte] = sum;
    }
    for (std::size_t slice = 1; slice < slices; ++slice) {
        for (std::size_t byte = 0; byte < tables[0].size(); ++byte) {
            const std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> byte_bits) ^ tables[0][before & byte_mask];
        }
    }
    return tables;
}

constexpr std::array<Table, slices> tables = make_tables();

static_assert(std::endian::native == std::endian::little, "big-endian processors are not supported");

std::uint32_t eight_bytes(std::uint32_t sum, const std::byte* bytes) noexcept {
    std::uint64_t step = 0;
    std::memcpy(&step, bytes, sizeof step);
    step ^= sum;
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < slices; ++i) {
        result ^= tables[slices - 1 - i][(step >> (i * byte_bits)) & byte_mask];
    }
    return result;
}

// clang declares the instruction of ARMv8 only if every processor that it compiles for has it.
#if defined(__x86_64__) || (defined(__aarch64__) && !defined(__clang__))
#ifdef __x86_64__
#define TELEGATE_WITH_CRC32C [[gnu::target("sse4.2")]]
#else
#define TELEGATE_WITH_CRC32C [[gnu::target("+crc")]]
#endif

/// The instruction takes three cycles and can begin in each of them, so long inputs are summed in three lanes.
constexpr std::size_t lane_bytes = 4'096;

constexpr std::uint32_t times_x(std::uint32_t sum) {
    return (sum >> 1U) ^ ((sum & 1U) != 0 ? polynomial : 0);
}

/// Returns the product of two polynomials, modulo the one above. The coefficient of x^0 is the highest bit.
constexpr std::uint32_t product(std::uint32_t left, std::uint32_t right) {
    std::uint32_t result = 0;
    for (; left != 0; left <<= 1U, right = times_x(right)) {
        result ^= left >> 31U != 0 ? right : 0;
    }
    return result;
}

/// A sum that is multiplied by it is the sum after lane_bytes more bytes that are 0.
constexpr std::uint32_t lane_factor = [] {
    std::uint32_t factor = std::uint32_t{1} << 31U;
    for (std::size_t bit = 0; bit < byte_bits * lane_bytes; ++bit) {
        factor = times_x(factor);
    }
    return factor;
}();

/// Does the same as eight_bytes() with an instruction that not every processor has.
TELEGATE_WITH_CRC32C std::uint64_t eight_bytes_at_once(std::uint64_t sum, const std::byte* bytes) noexcept {
    std::uint64_t step = 0;
    std::memcpy(&step, bytes, sizeof step);
#ifdef __x86_64__
    return __builtin_ia32_crc32di(sum, step);
#else
    return __builtin_aarch64_crc32cx(static_cast<std::uint32_t>(sum), step);
#endif
}

TELEGATE_WITH_CRC32C std::uint32_t eight_bytes_each(std::uint32_t start, Bytes& bytes) noexcept {
    std::uint64_t sum = start;
    for (; bytes.size() >= 3 * lane_bytes; bytes = bytes.subspan(3 * lane_bytes)) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < lane_bytes; i += slices) {
            sum = eight_bytes_at_once(sum, bytes.data() + i);
            second = eight_bytes_at_once(second, bytes.data() + lane_bytes + i);
            third = eight_bytes_at_once(third, bytes.data() + 2 * lane_bytes + i);
        }
        sum = product(static_cast<std::uint32_t>(sum), lane_factor) ^ second;
        sum = product(static_cast<std::uint32_t>(sum), lane_factor) ^ third;
    }
    for (; bytes.size() >= slices; bytes = bytes.subspan(slices)) {
        sum = eight_bytes_at_once(sum, bytes.data());
    }
    return static_cast<std::uint32_t>(sum);
}

#undef TELEGATE_WITH_CRC32C

bool has_instruction() noexcept {
#ifdef __x86_64__
    static const bool has = __builtin_cpu_supports("sse4.2") != 0;
#else
    static const bool has = (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
    return has;
}
#else
std::uint32_t eight_bytes_each(std::uint32_t sum, Bytes& /*bytes*/) noexcept {
    return sum;
}

bool has_instruction() noexcept {
    return false;
}
#endif

}  // namespace

std::uint32_t crc32c(Bytes bytes) noexcept {
    std::uint32_t sum = ~std::uint32_t{0};
    if (has_instruction()) {
        sum = eight_bytes_each(sum, bytes);
    }
    for (; bytes.size() >= slices; bytes = bytes.subspan(slices)) {
        sum = eight_bytes(sum, bytes.data());
    }
    for (const std::byte byte : bytes) {
        sum = (sum >> byte_bits) ^ tables[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & byte_mask];
    }
    return ~sum;
}

}  // namespace telegate
