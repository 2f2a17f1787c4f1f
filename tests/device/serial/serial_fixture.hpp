#pragma once

#include "device/driver_bench.hpp"
#include "device/pty.hpp"
#include "serial/serial_driver.hpp"
#include "support/eventually.hpp"

#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace telegate::test {

inline SerialDriverOptions serial_options(std::string path, std::variant<LineFormat, FrameFormat> format = {}) {
    SerialDriverOptions options;
    options.port.path = std::move(path);
    options.format = std::move(format);
    options.skip_first_line = false;
    return options;
}

/// A serial driver and its samples since the last check.
class SerialFixture {
  public:
    explicit SerialFixture(const SerialDriverOptions& options) : bench(make_serial_driver(options)) {}

    DriverBench bench;

    /// Reads once and keeps the samples.
    ReadResult::Status read() {
        const ReadResult::Status status = bench.read().status;
        for (const TelemetrySample& sample : bench.samples()) {
            reported_ += (reported_.empty() ? "" : " ") + bench.name_of(sample) + '=' + value_text(sample);
        }
        return status;
    }
    /// Opens the port without waiting for input.
    ReadResult::Status open() {
        bench.cancel.set();
        const ReadResult::Status status = read();
        bench.cancel.clear();
        return status;
    }
    bool reads_until(ReadResult::Status status) {
        return eventually([&] { return read() == status; });
    }
    /// Reads until the text was produced, and removes it.
    bool reports(std::string_view text) {
        const bool was_told = eventually([&] {
            return reported_.find(text) != std::string::npos || (read(), reported_.find(text) != std::string::npos);
        });
        UNSCOPED_INFO("told: " << reported_ << ", what: " << bench.what);
        last_report_ = std::exchange(reported_, {});
        return was_told;
    }
    /// The text that reports() has consumed.
    [[nodiscard]] const std::string& last_report() const noexcept { return last_report_; }

  private:
    static std::string value_text(const TelemetrySample& sample) {
        std::ostringstream out;
        switch (sample.type) {
            case ValueType::real: out << sample.value.real; break;
            case ValueType::integer: out << sample.value.integer; break;
            case ValueType::boolean: out << (sample.value.boolean ? "true" : "false"); break;
            case ValueType::text: out << std::string_view(sample.value.text, sample.text_bytes); break;
            default: out << '-'; break;
        }
        return out.str();
    }

    std::string reported_;
    std::string last_report_;
};

}  // namespace telegate::test
