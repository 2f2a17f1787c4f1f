#include "app/system_limits.hpp"

#include "config/payload_format.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>

namespace telegate {
namespace {

// Of the gateway: threads, endpoints, log and files. Of a device: a cancel signal, a port and two pipes. Of an I/O
// thread: its event loop and a waker.
constexpr std::size_t descriptors_of_gateway = 24;
constexpr std::size_t descriptors_of_device = 4;
constexpr std::size_t descriptors_of_io_thread = 4;

std::string list_of(const std::vector<unsigned>& processors) {
    std::string list;
    for (const unsigned processor : processors) {
        list += (list.empty() ? "" : ",") + std::to_string(processor);
    }
    return list;
}

LogLine refusal(LogFields setting, const std::string& reason, const std::string& remedy) {
    return {"cannot apply sampling thread setting", setting.quote("reason", reason).quote("remedy", remedy)};
}

}  // namespace

std::size_t raise_descriptor_limit() noexcept {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (limit.rlim_cur < limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
        limit = raised;
    }
    return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<std::size_t>::max()));
}

std::size_t own_descriptors(std::size_t devices, std::size_t io_threads) noexcept {
    return descriptors_of_gateway + devices * descriptors_of_device +
           (io_threads - 1) * payload_formats * descriptors_of_io_thread;
}

void check_free_descriptors(std::size_t limit) {
    // A connection of each kind, one more that is accepted before another is closed in its favor, and open files.
    constexpr std::size_t free_min = 8;
    std::error_code error;
    const std::filesystem::directory_iterator open("/proc/self/fd", error);
    const auto taken =
        error ? 0 : static_cast<std::size_t>(std::distance(begin(open), end(open))) - 1;  // without its own
    if (taken + free_min > limit) {
        throw std::system_error(std::make_error_code(std::errc::too_many_files_open),
                                "the limit of " + std::to_string(limit) + " open files is too low: " +
                                    std::to_string(taken) + " are open, and at least " + std::to_string(free_min) +
                                    " more are needed; raise it with LimitNOFILE= or ulimit -n");
    }
}

DescriptorShares share_descriptors(std::size_t limit, std::size_t own, std::size_t rest,
                                   std::size_t rest_streams) noexcept {
    constexpr std::size_t spare_min = 8;
    constexpr std::size_t accepted = 1;  // a new REST connection, before an old one is closed in its favor
    const std::size_t spare = std::max(limit - std::min(limit, own), spare_min);
    const std::size_t wanted = rest + rest_streams + accepted;
    const std::size_t of_rest = std::min(spare / 4 + accepted, wanted);
    DescriptorShares shares;
    shares.rest_streams = of_rest == wanted ? rest_streams : std::min(rest_streams, of_rest / 3);
    shares.rest = std::min(rest, of_rest - accepted - shares.rest_streams);
    shares.services = spare / 8;
    shares.subscribers = spare - of_rest - shares.services;
    return shares;
}

std::vector<LogLine> schedule_refusals(const ScheduleGrant& grant) {
    std::vector<LogLine> lines;
    if (grant.priority_refused) {
        const std::string priority = std::to_string(grant.wanted.realtime_priority);
        lines.push_back(refusal(LogFields().add("realtime_priority", grant.wanted.realtime_priority),
                                grant.priority_refused.message(),
                                "grant CAP_SYS_NICE or set LimitRTPRIO to " + priority + " or more"));
    }
    const LogFields processors = LogFields().add("cpu_affinity", list_of(grant.wanted.processors));
    const std::string remedy = "name online processors that this process may run on";
    if (grant.processors_refused) {
        lines.push_back(refusal(processors, grant.processors_refused.message(), remedy));
    } else if (grant.in_force.processors.size() < grant.wanted.processors.size()) {
        lines.push_back(refusal(processors, "only " + list_of(grant.in_force.processors) + " granted", remedy));
    }
    return lines;
}

}  // namespace telegate
