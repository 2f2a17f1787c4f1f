#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <cstddef>
#include <vector>

namespace telegate {

/// Maximum size of all expanded templates, in bytes of their keys, values and sections: a whole file repeated 256 times
/// would not fit in the memory of a small device.
inline constexpr std::size_t templates_bytes_max = 16 * 1024 * 1024;
/// The highest instance number. Large enough for port numbers.
inline constexpr unsigned instance_number_max = 65'535;

/// Replaces templates with their instances. [device "inverter-%d"] with `instances = 1..20` becomes twenty devices; the
/// sections of its channels, [channel "inverter-%d/power"], are repeated for each. In names and values, %d becomes the
/// instance number and %%d becomes the text %d.
///
/// A source with templates becomes two sources: the expanded templates, followed by its other sections, which therefore
/// override them. `instances` in a later source replaces that of an earlier one.
/// Limits: as many instances per template as there may be devices; templates_bytes_max in total.
/// Failure: reports problems; an invalid template is omitted.
[[nodiscard]] std::vector<SettingsSource> expand_templates(std::vector<SettingsSource> sources, ProblemList& problems);

}  // namespace telegate
