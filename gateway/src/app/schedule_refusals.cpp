#include "app/schedule_refusals.hpp"

namespace telegate {
namespace {

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
