#include "store/reserve_file.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <vector>

namespace telegate::store {

void ReserveFile::keep() {
    try {
        const bool exists = files_.exists(path_);
        const auto file = files_.open(path_, exists ? FileSystem::Mode::write : FileSystem::Mode::create);
        if (const std::uint64_t before = file->bytes(); before < bytes) {
            fill(*file, static_cast<std::size_t>(before));
        }
    } catch (const std::exception&) {
        return;
    }
}

/// Takes the rest of the space, or nothing: what is left of a full disk is for samples.
void ReserveFile::fill(File& file, std::size_t from) {
    try {
        file.write(from, std::vector<std::byte>(bytes - from));
    } catch (const std::exception&) {
        file.truncate(from);
    }
}

bool ReserveFile::release_part() {
    try {
        if (!files_.exists(path_)) {
            return false;
        }
        const auto file = files_.open(path_, FileSystem::Mode::write);
        const std::uint64_t before = file->bytes();
        file->truncate(before - std::min<std::uint64_t>(before, part_bytes));
        return before > 0;
    } catch (const std::exception&) {
        return false;
    }
}

void ReserveFile::release() {
    while (release_part()) {
    }
}

}  // namespace telegate::store
