#pragma once

#include "scratch_dir.hpp"

#include <sys/stat.h>

#include <fstream>
#include <string>

namespace telegate::test {

/// Writes a file that only its owner can read, replacing an existing one. Returns its path.
inline std::string write_private(const ScratchDir& folder, const std::string& name, const std::string& text) {
    const std::string path = folder.path(name);
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), 0600);
    return path;
}

}  // namespace telegate::test
