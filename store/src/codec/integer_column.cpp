#include "codec/integer_column.hpp"

#include <bit>
#include <cstddef>

namespace telegate::store {
namespace {

enum class Form : std::uint8_t { plain, difference, second_difference, exclusive_or };

constexpr unsigned form_bits = 2;
constexpr unsigned form_mask = 3;
constexpr std::size_t width_max = 8;
constexpr unsigned byte_bits = 8;

/// Calls `each(index, residual)` for every value that has one in this form: all but the first ones, which are stored
/// separately.
template <class Each>
void for_residuals(Form form, std::span<const std::uint64_t> values, const Each& each) {
    const std::size_t count = values.size();
    switch (form) {
        case Form::plain:
            for (std::size_t i = 0; i < count; ++i) {
                each(i, zigzag(values[i]));
            }
            break;
        case Form::difference:
            for (std::size_t i = 1; i < count; ++i) {
                each(i - 1, zigzag(values[i] - values[i - 1]));
            }
            break;
        case Form::second_difference:
            for (std::size_t i = 2; i < count; ++i) {
                each(i - 2, zigzag((values[i] - values[i - 1]) - (values[i - 1] - values[i - 2])));
            }
            break;
        case Form::exclusive_or:
            for (std::size_t i = 1; i < count; ++i) {
                each(i - 1, values[i] ^ values[i - 1]);
            }
            break;
    }
}

std::size_t first_values(Form form) noexcept {
    switch (form) {
        case Form::plain: return 0;
        case Form::difference:
        case Form::exclusive_or: return 1;
        case Form::second_difference: return 2;
    }
    return 0;
}

std::size_t width_of(std::uint64_t all_bits) noexcept {
    return (static_cast<std::size_t>(std::bit_width(all_bits)) + byte_bits - 1) / byte_bits;
}

void append_column(Form form, std::span<const std::uint64_t> values, std::size_t width, ByteBuffer& out) {
    out.push_back(static_cast<std::byte>(static_cast<unsigned>(form) | (width << form_bits)));
    for (std::size_t i = 0; i < first_values(form); ++i) {
        append_varint(out, zigzag(i == 0 ? values[0] : values[i] - values[i - 1]));
    }
    if (width == 0) {
        return;
    }
    const std::size_t residuals = values.size() - first_values(form);
    const std::size_t at = out.size();
    out.resize(at + residuals * width);
    std::byte* const planes = out.data() + at;
    for_residuals(form, values, [&](std::size_t i, std::uint64_t residual) {
        for (std::size_t plane = 0; plane < width; ++plane) {
            planes[plane * residuals + i] = static_cast<std::byte>(residual >> (plane * byte_bits));
        }
    });
}

/// Sets all values but the first ones, which are there: `residual(index)` is the residual of a value in this form.
template <class Residual>
void add_up(Form form, std::span<std::uint64_t> values, const Residual& residual) noexcept {
    const std::size_t count = values.size();
    switch (form) {
        case Form::plain:
            for (std::size_t i = 0; i < count; ++i) {
                values[i] = unzigzag(residual(i));
            }
            break;
        case Form::difference:
            for (std::size_t i = 1; i < count; ++i) {
                values[i] = values[i - 1] + unzigzag(residual(i));
            }
            break;
        case Form::second_difference:
            for (std::size_t i = 2; i < count; ++i) {
                values[i] = 2 * values[i - 1] - values[i - 2] + unzigzag(residual(i));
            }
            break;
        case Form::exclusive_or:
            for (std::size_t i = 1; i < count; ++i) {
                values[i] = values[i - 1] ^ residual(i);
            }
            break;
    }
}

}  // namespace

void encode_integers(std::span<const std::uint64_t> values, ByteBuffer& out) {
    if (values.empty()) {
        return;
    }
    struct Cost {
        std::uint64_t all_bits = 0;
        std::uint64_t bits = 0;  // of all residuals together
    };
    const auto cost_of = [&](Form form) {
        Cost cost;
        for_residuals(form, values, [&](std::size_t, std::uint64_t residual) {
            cost.all_bits |= residual;
            cost.bits += static_cast<std::uint64_t>(std::bit_width(residual));
        });
        return cost;
    };
    Form best = Form::plain;
    Cost least = cost_of(best);
    for (const Form form : {Form::difference, Form::second_difference}) {
        if (values.size() < first_values(form) || least.bits == 0) {
            break;
        }
        if (const Cost cost = cost_of(form); cost.bits < least.bits) {
            best = form;
            least = cost;
        }
    }
    append_column(best, values, width_of(least.all_bits), out);
}

void encode_bit_patterns(std::span<const std::uint64_t> values, ByteBuffer& out) {
    if (values.empty()) {
        return;
    }
    std::uint64_t all_bits = 0;
    for_residuals(Form::exclusive_or, values, [&](std::size_t, std::uint64_t residual) { all_bits |= residual; });
    append_column(Form::exclusive_or, values, width_of(all_bits), out);
}

void skip_integers(ByteReader& in, std::size_t count) noexcept {
    if (count == 0) {
        return;
    }
    const auto head = in.number<std::uint8_t>();
    const std::size_t width = head >> form_bits;
    const std::size_t first = first_values(static_cast<Form>(head & form_mask));
    if (width > width_max || first > count) {
        return in.fail();
    }
    for (std::size_t i = 0; i < first; ++i) {
        static_cast<void>(in.varint());
    }
    static_cast<void>(in.read_bytes((count - first) * width));
}

void decode_integers(ByteReader& in, std::span<std::uint64_t> values) noexcept {
    if (values.empty()) {
        return;
    }
    const auto head = in.number<std::uint8_t>();
    const auto form = static_cast<Form>(head & form_mask);
    const std::size_t width = head >> form_bits;
    const std::size_t first = first_values(form);
    if (width > width_max || first > values.size()) {
        return in.fail();
    }
    for (std::size_t i = 0; i < first; ++i) {
        values[i] = unzigzag(in.varint()) + (i == 0 ? 0 : values[i - 1]);
    }
    const std::size_t residuals = values.size() - first;
    const Bytes planes = in.read_bytes(residuals * width);
    if (in.failed()) {
        return;
    }
    if (width <= 1) {  // most columns: without a second pass
        if (width == 0) {
            return add_up(form, values, [](std::size_t) { return std::uint64_t{0}; });
        }
        return add_up(form, values, [&](std::size_t i) { return std::to_integer<std::uint64_t>(planes[i - first]); });
    }
    const std::span<std::uint64_t> rest = values.subspan(first);
    for (std::size_t i = 0; i < residuals; ++i) {
        rest[i] = std::to_integer<std::uint64_t>(planes[i]);
    }
    for (std::size_t plane = 1; plane < width; ++plane) {
        const std::byte* const bytes = planes.data() + plane * residuals;
        for (std::size_t i = 0; i < residuals; ++i) {
            rest[i] |= std::to_integer<std::uint64_t>(bytes[i]) << (plane * byte_bits);
        }
    }
    add_up(form, values, [&](std::size_t i) { return values[i]; });
}

}  // namespace telegate::store
