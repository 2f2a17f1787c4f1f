#include "config/hidden_secrets.hpp"
#include "config/joined.hpp"
#include "config/setting_slot.hpp"
#include "config/settings_table.hpp"
#include "influxdb/influxdb_options.hpp"
#include "influxdb/point_template.hpp"
#include "uplink/server_url.hpp"
#include "uplink/uplink_row.hpp"

#include <array>
#include <string>

namespace telegate {
namespace influxdb_uplink {
namespace {

using I = uplink::InfluxdbOptions;

constexpr auto qualities = enum_names<I::Quality>(
    {{"skip_bad", I::Quality::skip_bad}, {"tag", I::Quality::tag}, {"field", I::Quality::field}});
constexpr auto integers = enum_names<I::Integers>({{"real", I::Integers::real}, {"integer", I::Integers::integer}});
constexpr auto compressions =
    enum_names<I::Compression>({{"gzip", I::Compression::gzip}, {"none", I::Compression::none}});

constexpr TextListRule urls{.holds = Holds::destination,
                            .allowed = "http://HOST or https://HOST, with :PORT or without, with /PATH or without",
                            .count_max = 8,
                            .may_be_empty = false};
constexpr TextRule name{.holds = Holds::destination,
                        .prefixes = {},
                        .allowed = "a name of at most 256 bytes, or empty",
                        .bytes_max = 256,
                        .may_be_empty = true};
constexpr TextRule proxy{.holds = Holds::destination,
                         .prefixes = {},
                         .allowed = "http://HOST, with :PORT or without, or empty",
                         .bytes_max = 256,
                         .may_be_empty = true};
constexpr TextRule point_template{.holds = Holds::plain,
                                  .prefixes = {},
                                  .allowed = "a text in which {device}, {channel}, {gateway} and {unit} are replaced",
                                  .bytes_max = 256};
constexpr TextListRule tags{.holds = Holds::plain,
                            .allowed = "gateway, device, channel, unit, the name of a tag, or * for all tags",
                            .characters = "abcdefghijklmnopqrstuvwxyz0123456789_*",
                            .bytes_max = 64,
                            .count_max = 32};
constexpr TextRule gap_measurement{.holds = Holds::plain,
                                   .prefixes = {},
                                   .allowed = "the name of a measurement, or empty",
                                   .bytes_max = 256,
                                   .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "uplink", .key = "url", .rule = urls, .applies = Applies::file, .required = true,
               .meaning = "Servers, with TLS (https://) or without (http://). They are tried in turn. The path is the "
                          "one before /write or /api/v2/write.",
               .slot = slot_of<&UplinkSettings::url>},
    SettingRow{.section = "uplink", .key = "database", .rule = name, .applies = Applies::file,
               .unset = "none",
               .meaning = "Database to which points are written. Servers that have only one need none.",
               .slot = slot_of<&I::database>},
    SettingRow{.section = "uplink", .key = "bucket", .rule = name, .applies = Applies::file, .excludes = "database",
               .unset = "none",
               .meaning = "Bucket to which points are written, instead of a database.", .slot = slot_of<&I::bucket>},
    SettingRow{.section = "uplink", .key = "org", .rule = name, .applies = Applies::file,
               .meaning = "Organization of the bucket.", .slot = slot_of<&I::org>},
    SettingRow{.section = "uplink", .key = "proxy", .rule = proxy, .applies = Applies::file,
               .meaning = "HTTP proxy through which the servers are reached. Empty means none.",
               .slot = slot_of<&I::proxy>},
    SettingRow{.section = "uplink", .key = "measurement", .rule = point_template, .applies = Applies::live,
               .meaning = "Measurement of a sample. {device}, {channel}, {gateway} and {unit} are replaced.",
               .slot = slot_of<&I::measurement>},
    SettingRow{.section = "uplink", .key = "field", .rule = point_template, .applies = Applies::live,
               .meaning = "Field with the value of a sample. {device}, {channel}, {gateway} and {unit} are replaced.",
               .slot = slot_of<&I::field>},
    SettingRow{.section = "uplink", .key = "tags", .rule = tags, .applies = Applies::live,
               .meaning = "Tags of a point: gateway, device, channel, unit, names of tags of the settings, or * for all "
                          "tags of the settings. Tags without a value are omitted.",
               .slot = slot_of<&I::tags>},
    SettingRow{.section = "uplink", .key = "quality", .rule = ChoiceRule{qualities.names}, .applies = Applies::live,
               .meaning = "How the quality is written: as a tag of the point (tag), as one of its fields (field), or not "
                          "at all, and bad samples are omitted (skip_bad).",
               .slot = choice_of<qualities, &I::quality>},
    SettingRow{.section = "uplink", .key = "integers", .rule = ChoiceRule{integers.names}, .applies = Applies::live,
               .meaning = "Type of integer values: real, so that a channel can have both, or integer.",
               .slot = choice_of<integers, &I::integers>},
    SettingRow{.section = "uplink", .key = "gaps", .rule = gap_measurement, .applies = Applies::live,
               .meaning = "Measurement of points about missing samples. Empty means none.", .slot = slot_of<&I::gaps>},
    SettingRow{.section = "uplink", .key = "compression", .rule = ChoiceRule{compressions.names},
               .applies = Applies::live, .meaning = "Compression of requests.",
               .slot = choice_of<compressions, &I::compression>},
};
// clang-format on

void check_template(std::string_view key, const std::string& text, SectionProblems& found) {
    if (const std::string unknown = uplink::unknown_word(text); !unknown.empty()) {
        found.add(key, '"' + text + "\" has the unknown word " + unknown +
                           "; must be {device}, {channel}, {gateway} or {unit}");
    }
}

uplink::UplinkTypePlan plan(const UplinkSettings& uplink, SectionProblems& found) {
    const auto& options = part_of<I>(uplink.parts);
    for (const std::string& url : uplink.url) {
        if (!uplink::parse_http_url(url)) {
            found.add("url", '"' + shown_value(*find_setting("uplink", "url", "influxdb"), url) +
                                 "\" is not a valid URL: must be " + std::string(urls.allowed));
        }
    }
    if (const auto url = uplink::parse_http_url(options.proxy);
        !options.proxy.empty() && (!url || url->has_tls || !url->path.empty())) {
        found.add("proxy", '"' + shown_value(*find_setting("uplink", "proxy", "influxdb"), options.proxy) +
                               "\" is not a valid proxy: must be " + std::string(proxy.allowed));
    }
    check_template("measurement", options.measurement, found);
    check_template("field", options.field, found);
    if (options.bucket.empty() && !options.org.empty()) {
        found.add("org", '"' + options.org + "\" is the organization of a bucket, and there is none: set bucket");
    }
    const std::array<std::string, 6> encoding{options.measurement,
                                              options.field,
                                              joined(options.tags),
                                              options.gaps,
                                              std::string(qualities.name(options.quality)),
                                              std::string(integers.name(options.integers))};
    return {.target = options.bucket.empty() ? options.database : options.bucket,
            .encoding = joined(encoding, "\n"),
            .options = options,
            .acknowledge_max = std::chrono::seconds(30),  // of a request
            .responds_in_order = true,
            .unsynced = std::chrono::seconds(15)};  // VictoriaMetrics loses up to 12 seconds
}

}  // namespace
}  // namespace influxdb_uplink

extern const uplink::UplinkRow influxdb_uplink_row{
    .type = "influxdb", .settings = influxdb_uplink::rows, .plan = influxdb_uplink::plan};

}  // namespace telegate
