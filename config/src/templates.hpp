#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <cstddef>
#include <vector>

namespace telegate {

/// What all templates may come to, in bytes of their keys, values and sections: the text of a file, 256 times, would
/// not fit the memory of a small device.
inline constexpr std::size_t templates_bytes_max = 16 * 1024 * 1024;
/// The highest number of an instance, so that it can be a port.
inline constexpr unsigned instance_number_max = 65'535;

/// Replaces templates with the sections they stand for. [device "inverter-%d"] with `instances = 1..20` is twenty
/// devices; the sections of its channels, [channel "inverter-%d/power"], are repeated for each. %d is the number of the
/// instance in names and values, %%d is the text %d.
///
/// A source with templates becomes two: what the templates give, and then what its other sections give, which therefore
/// overrides it. `instances` of a later source replaces that of an earlier one.
/// Limits:  as many instances of a template as there may be devices; templates_bytes_max in all.
/// Failure: reports problems; a template with a problem gives nothing.
[[nodiscard]] std::vector<SettingsSource> expand_templates(std::vector<SettingsSource> sources, ProblemList& problems);

}  // namespace telegate
