#include "templates.hpp"

#include "config/settings_table.hpp"
#include "config/text_parts.hpp"
#include "core/text.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view placeholder = "%d";
constexpr std::string_view literal_placeholder = "%%d";
constexpr std::string_view instances_key = "instances";
constexpr std::string_view range_sign = "..";
/// Estimated memory of a section or an entry in addition to its texts.
constexpr std::size_t overhead_bytes = 128;

using Numbers = std::set<unsigned>;

std::size_t devices_max() {
    return find_section("device")->count_max;
}

std::string instances_allowed() {
    return "; must be whole numbers and ranges from 0 to " + std::to_string(instance_number_max) +
           ", separated by commas, each number once, at most " + std::to_string(devices_max()) +
           " in total, such as 1..20";
}

/// Replaces each %d in the text with the number.
std::string filled(std::string_view text, const std::string& number) {
    std::string out;
    while (!text.empty()) {
        if (text.starts_with(literal_placeholder)) {
            out += placeholder;
            text.remove_prefix(literal_placeholder.size());
        } else if (text.starts_with(placeholder)) {
            out += number;
            text.remove_prefix(placeholder.size());
        } else {
            out += text.front();
            text.remove_prefix(1);
        }
    }
    return out;
}

/// Returns the device of a section that can be a template; "" for other sections.
std::string_view device_name(const GivenSection& section) {
    const bool is_of_device = section.kind == "device" || section.kind == "channel";
    return is_of_device && section.name ? std::string_view(*section.name).substr(0, section.name->find('/')) : "";
}

bool is_template(const GivenSection& section) {
    return device_name(section).find(placeholder) != std::string_view::npos;
}

/// Returns nullopt if the text is not an instance number, with or without blanks around it.
std::optional<unsigned> to_number(std::string_view text) {
    const std::optional<unsigned> number = parse_number<unsigned>(trimmed(text));
    return number && *number <= instance_number_max ? number : std::nullopt;
}

/// Adds "7" or "1..20". Returns false if the text is neither, or contains a number that was already added.
bool add_range(std::string_view text, Numbers& numbers) {
    const std::size_t sign = text.find(range_sign);
    const auto first = to_number(text.substr(0, sign));
    const auto last = sign == std::string_view::npos ? first : to_number(text.substr(sign + range_sign.size()));
    if (!first || !last || *last < *first || *last - *first >= devices_max()) {
        return false;
    }
    for (unsigned number = *first; number <= *last; ++number) {
        if (!numbers.insert(number).second) {
            return false;
        }
    }
    return numbers.size() <= devices_max();
}

/// Returns nullopt if the text is not a list of instances.
std::optional<Numbers> to_numbers(std::string_view text) {
    Numbers numbers;
    for (const std::string_view part : comma_parts(text)) {
        if (!add_range(part, numbers)) {
            return std::nullopt;
        }
    }
    return numbers;
}

/// Collects the templates of all sources, then repeats their sections.
///
/// Threads: one.
/// Limits: those of expand_templates().
/// Failure: reports problems; nothing else can fail.
class TemplateExpansion {
  public:
    explicit TemplateExpansion(ProblemList& problems) : problems_(problems) {}

    /// Removes `instances` from the sections of a source and remembers them.
    void collect(SettingsSource& source) {
        for (GivenSection& section : source.sections) {
            if (section.kind == "device") {
                collect(section, source.last_wins);
            }
        }
    }

    /// Reports templates for which no source gives instances.
    void check(const SettingsSource& source) {
        for (const GivenSection& section : source.sections) {
            if (!is_template(section) || devices_.contains(device_name(section))) {
                continue;
            }
            const std::string device = "[device " + quoted_value(device_name(section)) + "]";
            problems_.add(section.place, section.shown,
                          section.kind == "device"
                              ? "missing instances: " + section.title() +
                                    " has %d in its name; must have a setting such as instances = 1..20"
                              : "missing instances: " + section.title() + " has %d in its name, but no " + device +
                                    " has instances");
        }
    }

    void expand(SettingsSource source, std::vector<SettingsSource>& to) {
        SettingsSource expanded{.last_wins = source.last_wins};
        for (const GivenSection& section : source.sections) {
            if (is_template(section)) {
                repeat(section, expanded.sections);
            }
        }
        std::erase_if(source.sections, is_template);
        if (!expanded.sections.empty()) {
            to.push_back(std::move(expanded));
        }
        to.push_back(std::move(source));
    }

  private:
    void collect(GivenSection& section, bool last_wins) {
        const GivenEntry* first = nullptr;
        for (const GivenEntry& entry : section.entries) {
            if (entry.key != instances_key) {
                continue;
            }
            if (!is_template(section)) {
                complain(entry,
                         "no %d in the device name: " + section.title() + "; must be like [device \"inverter-%d\"]");
            } else if (first != nullptr && !last_wins) {
                complain(entry, "duplicate (first defined on line " + std::to_string(first->place.line) + ")");
            } else {
                first = &entry;
                take(*section.name, entry);
            }
        }
        std::erase_if(section.entries, [](const GivenEntry& entry) { return entry.key == instances_key; });
    }

    void take(const std::string& device, const GivenEntry& entry) {
        const std::optional<Numbers> numbers = to_numbers(entry.value);
        if (!numbers) {
            complain(entry,
                     "not a list of instances: " + quoted_value(std::string_view(entry.value)) + instances_allowed());
        }
        devices_.insert_or_assign(device, numbers.value_or(Numbers()));
    }

    void complain(const GivenEntry& entry, std::string what) {
        problems_.add(entry.place, entry.shown.empty() ? instances_key : entry.shown, std::move(what));
    }

    void repeat(const GivenSection& section, std::vector<GivenSection>& to) {
        const auto found = devices_.find(device_name(section));
        if (found == devices_.end()) {
            return;
        }
        for (const unsigned number : found->second) {
            if (!has_capacity(section)) {
                return;
            }
            const std::string digits = std::to_string(number);
            GivenSection& copy = to.emplace_back(section);
            copy.written = section.title();
            copy.name = filled(*section.name, digits);
            for (GivenEntry& entry : copy.entries) {
                entry.value = filled(entry.value, digits);
            }
        }
    }

    bool has_capacity(const GivenSection& section) {
        if (bytes_ > templates_bytes_max) {
            return false;
        }
        bytes_ += overhead_bytes;
        for (const GivenEntry& entry : section.entries) {
            bytes_ += overhead_bytes + entry.key.size() + entry.value.size();
        }
        if (bytes_ > templates_bytes_max) {
            problems_.add(section.place, section.shown,
                          "templates too large: " + section.title() + "; must be at most " +
                              std::to_string(templates_bytes_max) + " bytes for all instances");
            return false;
        }
        return true;
    }

    ProblemList& problems_;
    std::map<std::string, Numbers, std::less<>> devices_;  // by the name of the template
    std::size_t bytes_ = 0;
};

}  // namespace

std::vector<SettingsSource> expand_templates(std::vector<SettingsSource> sources, ProblemList& problems) {
    TemplateExpansion expansion(problems);
    for (SettingsSource& source : sources) {
        expansion.collect(source);
    }
    std::vector<SettingsSource> expanded;
    for (SettingsSource& source : sources) {
        expansion.check(source);
        expansion.expand(std::move(source), expanded);
    }
    return expanded;
}

}  // namespace telegate
