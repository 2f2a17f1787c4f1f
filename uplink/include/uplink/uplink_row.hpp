#pragma once

#include "config/payload_format.hpp"
#include "config/section_problems.hpp"
#include "config/setting_row.hpp"

#include <any>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The plan that follows from the settings of a type of uplink.
struct UplinkTypePlan {
    std::optional<MessageFormat> format = std::nullopt;  // of the messages; nullopt: that of an EntryEncoder
    std::string subject = {};                            // template, see SubjectTemplate; "": messages have none
    std::string target = {};    // where the back end stores the messages, for /status: a subject or a database
    std::string encoding = {};  // the settings of the type on which the content of the messages depends
    std::any options = {};      // of the module, in a type of its own
    std::chrono::milliseconds acknowledge_max{10'000};  // then the connection counts as broken
    bool responds_in_order = false;                     // see Delivery::Options
    std::chrono::milliseconds unsynced{0};              // see UplinkRunner::Options
};

/// One type of uplink: its settings, and what they mean.
struct UplinkRow {
    std::string_view type = {};
    std::span<const SettingRow> settings = {};  // including its url
    /// Checks settings that depend on each other, and adds problems.
    UplinkTypePlan (*plan)(const UplinkSettings& uplink, SectionProblems& problems) = nullptr;
};

/// Throws std::invalid_argument if there is no such type.
[[nodiscard]] const UplinkRow& find_uplink_type(std::string_view type);

}  // namespace telegate::uplink
