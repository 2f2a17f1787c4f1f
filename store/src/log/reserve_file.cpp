#include "store/reserve_file.hpp"

#include <exception>

namespace telegate::store {

void ReserveFile::keep() {
    try {
        if (files_.exists(path_)) {
            if (files_.open(path_, FileSystem::Mode::read)->bytes() == bytes) {
                return;
            }
            files_.remove(path_);
        }
        files_.open(path_, FileSystem::Mode::create)->write(0, ByteBuffer(bytes));
    } catch (const std::exception&) {
        (void)release();  // of a part of it
    }
}

bool ReserveFile::release() {
    try {
        const bool exists = files_.exists(path_);
        files_.remove(path_);
        return exists;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace telegate::store
