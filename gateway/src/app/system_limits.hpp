#pragma once

#include "device/thread_schedule.hpp"
#include "log/log_line.hpp"

#include <cstddef>
#include <vector>

namespace telegate {

/// Raises the soft limit of open descriptors of this process to the hard limit: each subscriber needs a descriptor, and
/// the usual limit of 1,024 exists for programs that use select(). Returns the limit in force. Threads: the main
/// thread, at start.
[[nodiscard]] std::size_t raise_descriptor_limit() noexcept;

/// Maximum number of connections of each part of the gateway, so that no part exhausts the descriptors of the others.
struct DescriptorShares {
    std::size_t subscribers = 1;
    std::size_t services = 1;
    std::size_t rest = 1;          // without streams
    std::size_t rest_streams = 0;  // event streams
};

/// Returns the maximum number of descriptors of the process itself, its devices and the I/O threads of all formats.
[[nodiscard]] std::size_t own_descriptors(std::size_t devices, std::size_t io_threads) noexcept;

/// Checks, after everything has been opened, that descriptors are left for clients and files. Throws std::system_error,
/// which states the limit, otherwise. Threads: any.
void check_free_descriptors(std::size_t limit);

/// Divides the descriptors that remain after the `own` ones. `rest` and `rest_streams` are the connections for REST if
/// there are enough descriptors.
[[nodiscard]] DescriptorShares share_descriptors(std::size_t limit, std::size_t own, std::size_t rest,
                                                 std::size_t rest_streams) noexcept;

/// Returns a log line for each setting of the sampling thread that the system refused or granted only in part, with the
/// reason and a remedy. Threads: any.
[[nodiscard]] std::vector<LogLine> schedule_refusals(const ScheduleGrant& grant);

}  // namespace telegate
