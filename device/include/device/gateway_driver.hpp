#pragma once

#include "device/driver.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// A notice that the driver `gateway` publishes as one sample of its channel `events`.
struct GatewayNotice {
    std::uint64_t number = 0;  // counts from 1; missing numbers count as lost at the source
    std::int64_t time_utc_ns = 0;
    std::string text = {};
};

/// The source of the notices of the driver `gateway`.
/// Threads: any.
class NoticeSource {
  public:
    virtual ~NoticeSource() = default;
    [[nodiscard]] virtual std::uint64_t last_number() const noexcept = 0;
    /// Returns the notices with a greater number, oldest first. Throws std::bad_alloc.
    [[nodiscard]] virtual std::vector<GatewayNotice> after(std::uint64_t number) const = 0;
};

/// The gateway as a device: the channels of the driver `clock`, and `events`.
class GatewayDriver : public Driver {
  public:
    /// Sets the source. Publishes the notices after number `*published`, which it advances. Call it before the driver
    /// is installed.
    virtual void read_from(std::unique_ptr<const NoticeSource> source,
                           std::shared_ptr<std::atomic<std::uint64_t>> published) = 0;
};

[[nodiscard]] std::unique_ptr<GatewayDriver> make_gateway_driver();

}  // namespace telegate
