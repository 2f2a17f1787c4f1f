#include "config/setting_rules.hpp"
#include "config/setting_slot.hpp"
#include "uplink/server_url.hpp"
#include "uplink/subject_template.hpp"
#include "uplink/uplink_row.hpp"

#include "config/hidden_secrets.hpp"
#include "config/settings_table.hpp"

#include <array>
#include <string>

namespace telegate {
namespace nats_uplink {

struct NatsSettings {
    std::string subject = "telegate.samples";
    MessageFormat format = MessageFormat::json;
};

namespace {

constexpr TextListRule urls{.holds = Holds::destination,
                            .allowed = "nats://HOST or tls://HOST, with :PORT or without",
                            .count_max = 8,
                            .may_be_empty = false};
constexpr TextRule subject{.holds = Holds::destination,
                           .prefixes = {},
                           .allowed = "words separated by dots, without blanks, * and >",
                           .bytes_max = 256};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "uplink", .key = "url", .rule = urls, .applies = Applies::file, .required = true,
               .meaning = "Servers of the back end, with TLS (tls://) or without (nats://). They are tried in turn.",
               .slot = slot_of<&UplinkSettings::url>},
    SettingRow{.section = "uplink", .key = "subject", .rule = subject, .applies = Applies::file,
               .meaning = "Subject to which messages are published. A stream must have this subject. The words "
                          "{device} and {channel} are the parts of a topic, {gateway} is the name of the gateway.",
               .slot = slot_of<&NatsSettings::subject>},
    SettingRow{.section = "uplink", .key = "format", .rule = ChoiceRule{message_format_names.names},
               .applies = Applies::live,
               .meaning = "Format of the messages: lines of JSON, CBOR, records of 64 bytes, or the blocks of the log.",
               .slot = choice_of<message_format_names, &NatsSettings::format>},
};
// clang-format on

/// A block is passed on whole, with all of its channels.
void check_block(const UplinkSettings& uplink, const NatsSettings& options, SectionProblems& found) {
    if (!uplink.topics.empty()) {
        found.add("topics", "topics cannot be selected with format = block: a block has all channels");
    }
    if (SubjectTemplate::is_valid(options.subject) && SubjectTemplate(options.subject).depends_on_channel()) {
        found.add("subject", '"' + options.subject + "\" cannot be used with format = block: a block has all channels");
    }
}

uplink::UplinkTypePlan plan(const UplinkSettings& uplink, SectionProblems& found) {
    const auto& options = part_of<NatsSettings>(uplink.parts);
    for (const std::string& url : uplink.url) {
        if (!uplink::parse_nats_url(url)) {
            found.add("url", '"' + shown_value(*find_setting("uplink", "url", "nats"), url) +
                                 "\" is not a valid URL: must be nats://HOST or tls://HOST, with :PORT or without");
        }
    }
    if (!SubjectTemplate::is_valid(options.subject)) {
        found.add("subject", '"' + options.subject +
                                 "\" is not a valid subject: must be words separated by dots, without blanks, * and >. "
                                 "Words in braces may be {device}, {channel} and {gateway}");
    }
    if (options.format == MessageFormat::block) {
        check_block(uplink, options, found);
    }
    return {.format = options.format, .subject = options.subject, .target = options.subject};
}

}  // namespace
}  // namespace nats_uplink

extern const uplink::UplinkRow nats_uplink_row{
    .type = "nats", .settings = nats_uplink::rows, .plan = nats_uplink::plan};

}  // namespace telegate
