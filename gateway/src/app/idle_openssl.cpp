#include <dlfcn.h>

// Debian's cpp-httplib has OpenSSL initialised at the start of every program, whether or not it speaks TLS: two
// megabytes that a gateway without TLS does not use. This function takes the place of OpenSSL's own, which that
// initialisation calls. From main() on it is OpenSSL's own again, which OpenSSL calls when a TLS connection needs it.
extern "C" [[gnu::used]] int OPENSSL_init_ssl(unsigned long long options, const void* settings);

namespace {

bool libraries_are_loaded = false;

// Shared libraries are initialised before the program itself.
[[gnu::constructor]] void note_libraries() {
    libraries_are_loaded = true;
}

}  // namespace

int OPENSSL_init_ssl(unsigned long long options, const void* settings) {
    if (!libraries_are_loaded) {
        return 1;  // done
    }
    using Initialise = int (*)(unsigned long long, const void*);
    static const auto initialise = reinterpret_cast<Initialise>(::dlsym(RTLD_NEXT, "OPENSSL_init_ssl"));
    return initialise == nullptr ? 0 : initialise(options, settings);
}
