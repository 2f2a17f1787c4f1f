#pragma once

#include "device/driver.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// What the driver `gateway` publishes as one sample of its channel `events`.
struct GatewayNotice {
    std::uint64_t number = 0;  // counts from 1; those that are missing count as lost at source
    std::int64_t time_utc_ns = 0;
    std::string text = {};
};

/// Where the driver `gateway` gets its notices from. Threads: any.
class NoticeSource {
  public:
    virtual ~NoticeSource() = default;
    [[nodiscard]] virtual std::uint64_t last_number() const noexcept = 0;
    /// Notices with a greater number, the oldest first. Throws std::bad_alloc.
    [[nodiscard]] virtual std::vector<GatewayNotice> after(std::uint64_t number) const = 0;
};

/// The gateway as a device: the channels of its clock, as the driver `clock` has them, and `events`.
class GatewayDriver : public Driver {
  public:
    /// Starts to publish the notices after number `*published`, which it advances. Before the driver is installed.
    virtual void read_from(std::unique_ptr<const NoticeSource> source,
                           std::shared_ptr<std::atomic<std::uint64_t>> published) = 0;
};

[[nodiscard]] std::unique_ptr<GatewayDriver> make_gateway_driver();

}  // namespace telegate
