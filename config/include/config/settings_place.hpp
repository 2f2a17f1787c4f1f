#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace telegate {

/// Where a section or a key stands, for faults that only show when its values are used.
struct SettingsPlace {
    std::string file;
    std::size_t line = 0;  // from 1
};

/// Of the keys of one section that are given.
using SettingsPlaces = std::map<std::string, SettingsPlace, std::less<>>;

}  // namespace telegate
